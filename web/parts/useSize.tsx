/** Tracks the rendered size of an element. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Returns a reference for the element and its size. The size is undefined before the first layout. */
export function useSize<T extends Element>() {
  const box = useRef<T>(null);
  const [size, setSize] = useState<{ readonly width: number; readonly height: number }>();
  useLayoutEffect(() => {
    const { current } = box;
    if (!current) return undefined;
    // Let the observer report the first size after the layout, because reading the size here would force an extra
    // layout.
    const observer = new ResizeObserver(() => setSize({ width: current.clientWidth, height: current.clientHeight }));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return { box, size };
}
