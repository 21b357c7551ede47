/** Whether something of the page has been painted. */
import { useEffect, useState } from 'preact/hooks';

/** What can wait for that lets the answer be seen first, where everything at once would take twice as long. */
export function usePainted(): boolean {
  const [isPainted, setPainted] = useState(false);
  useEffect(() => {
    let timer = 0;
    const frame = requestAnimationFrame(() => {
      timer = window.setTimeout(() => setPainted(true));
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, []);
  return isPainted;
}
