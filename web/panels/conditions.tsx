import { type Condition, conditionsOf } from '../model/conditions.ts';
import { clockOf } from '../model/time.ts';
import { Mark } from '../parts/mark.tsx';

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

const Line = ({ type, status, isWell, why, at }: Condition) => (
  <div class="cond">
    <Mark of={isWell ? 'steady' : 'waiting'} />
    <b>{type}</b>
    <span class="sub" title={why}>
      {status}
      {why !== '' && `, ${why}`}
    </span>
    <span class="dim">{at === undefined ? '' : clockOf(at)}</span>
  </div>
);
