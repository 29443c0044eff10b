// The place of a component on a page. The script that draws it comes separately (packed.py says why).
export default function (given) {
  let isOver = false;
  let stop;
  meeting.promise.then((draw) => {
    if (!isOver) stop = draw(given);
  });
  return () => {
    isOver = true;
    stop?.();
  };
}
