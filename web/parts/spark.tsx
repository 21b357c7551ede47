/** A sparkline of recent measurements, the latest on the right. A single measurement is drawn as a horizontal line. */
export function Spark({ values }: { readonly values: readonly number[] }) {
  const [onlyValue = 0] = values;
  const samples = values.length < 2 ? [onlyValue, onlyValue] : values;
  const maxValue = Math.max(...samples, 1);
  const points = samples.map((value, at) => {
    const x = (40 * at) / (samples.length - 1);
    return `${x.toFixed(1)},${(14 - (12 * value) / maxValue).toFixed(1)}`;
  });
  return (
    <svg class="spark" width="40" height="16" viewBox="0 0 40 16" aria-hidden="true">
      <polyline
        fill="none"
        stroke="currentColor"
        stroke-width="1.3"
        stroke-linejoin="round"
        points={points.join(' ')}
      />
    </svg>
  );
}
