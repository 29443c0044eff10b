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
