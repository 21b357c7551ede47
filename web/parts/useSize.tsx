/** How large an element is drawn, as it changes. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** A reference for the element, and its size; nothing before it is drawn. */
export function useSize<T extends Element>() {
  const box = useRef<T>(null);
  const [size, setSize] = useState<{ readonly width: number; readonly height: number }>();
  useLayoutEffect(() => {
    const { current } = box;
    if (!current) return undefined;
    // It is told at once, when the browser has laid out the page: asked before, it would have to do so in the midst of it.
    const observer = new ResizeObserver(() => setSize({ width: current.clientWidth, height: current.clientHeight }));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return { box, size };
}
