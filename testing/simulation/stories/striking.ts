/** Faults at calls that are told apart by what they are, which no change of the agent moves to another place. */
import type { Fate, FaultPlan, OutsideCall } from '../run/outside.ts';

export interface Struck {
  /** What the call is about contains what is given here. */
  readonly call: Partial<OutsideCall>;
  readonly fate: Fate;
  /** So many of these calls are spared before. */
  readonly after?: number;
  /** Absent: one. */
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
