import { useEffect, useState } from 'preact/hooks';

/**
 * Returns whether the page has been painted. Less urgent panels wait for this, because rendering all panels at once
 * would double the time until the answer is visible.
 */
export function useIsPainted(): boolean {
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
