import { type Condition, conditionsOf } from '../../model/details/conditions.ts';
import { formatClock } from '../../model/rail/time.ts';
import { CategoryIcon } from '../../parts/categoryIcon.tsx';

/** The conditions in a pod's status. */
export function Conditions({ status }: { readonly status: unknown }) {
  const conditions = conditionsOf(status);
  if (conditions.length === 0) return null;
  return (
    <section class="sec conds">
      <h3>Conditions</h3>
      {conditions.map((condition) => (
        <Line key={condition.type} {...condition} />
      ))}
    </section>
  );
}

const Line = ({ type, status, isHealthy, explanation, at }: Condition) => (
  <div class="cond">
    <CategoryIcon category={isHealthy ? 'steady' : 'waiting'} />
    <b>{type}</b>
    <span class="sub" title={explanation}>
      {status}
      {explanation !== '' && `, ${explanation}`}
    </span>
    <span class="dim">{at === undefined ? '' : formatClock(at)}</span>
  </div>
);
