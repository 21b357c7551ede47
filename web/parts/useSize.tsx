/** How large an element is drawn, as it changes. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** A reference for the element, and its size; nothing before it is drawn. */
export function useSize<T extends Element>() {
  const box = useRef<T>(null);
  const [size, setSize] = useState<{ readonly width: number; readonly height: number }>();
  useLayoutEffect(() => {
    const { current } = box;
    if (!current) return undefined;
    const measure = () => setSize({ width: current.clientWidth, height: current.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return { box, size };
}
