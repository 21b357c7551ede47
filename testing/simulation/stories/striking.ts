/** Faults at calls that are selected by room, name and object, so that they do not move when the agent changes. */
import type { Fate, FaultPlan, OutsideCall } from '../run/outside.ts';

export interface Struck {
  /** The selected calls. `about` matches as a substring. */
  readonly call: Partial<OutsideCall>;
  readonly fate: Fate;
  /** The number of matching calls to skip. */
  readonly after?: number;
  /** Default: 1. */
  readonly times?: number;
}

export function striking(all: readonly Struck[]): FaultPlan & { left(): number } {
  const counts = all.map(({ after = 0, times = 1 }) => ({ after, times }));
  const plan: FaultPlan = (call) => {
    const met = all.findIndex(({ call: { room, name, about } }, index) => {
      const isMeant = call.room === room && call.name === name && (about === undefined || call.about.includes(about));
      const count = counts[index];
      if (!isMeant || count === undefined || count.times === 0) return false;
      if (count.after > 0) {
        count.after -= 1;
        return false;
      }
      count.times -= 1;
      return true;
    });
    return all[met]?.fate;
  };
  return Object.assign(plan, { left: () => counts.reduce((sum, { times }) => sum + times, 0) });
}
