// The place of a figure on a page. The script that draws it comes separately (plot.py says why).
export default function (given) {
  let isOver = false;
  let stop = () => {};
  meeting.drawing.then((draw) => {
    if (!isOver) stop = draw(given);
  });
  return () => {
    isOver = true;
    stop();
  };
}
