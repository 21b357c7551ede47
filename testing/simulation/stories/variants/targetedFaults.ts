/** Faults of calls that are selected by target, name and object, so that they do not move when the agent changes. */
import type { CallFault, FaultPlan, OutsideCall } from '../../run/gate.ts';

export interface TargetedFault {
  /** Selects the calls. `about` matches as a substring. */
  readonly call: Partial<OutsideCall>;
  readonly fault: CallFault;
  /** Number of matching calls to skip. Default: 0. */
  readonly skip?: number;
  /** Number of calls that meet the fault. Default: 1. */
  readonly times?: number;
}

export function planTargetedFaults(all: readonly TargetedFault[]): FaultPlan & { left(): number } {
  const counts = all.map(({ skip = 0, times = 1 }) => ({ after: skip, times }));
  const plan: FaultPlan = (call) => {
    const met = all.findIndex(({ call: { target, name, about } }, index) => {
      const isMeant =
        call.target === target && call.name === name && (about === undefined || call.about.includes(about));
      const count = counts[index];
      if (!isMeant || count === undefined || count.times === 0) return false;
      if (count.after > 0) {
        count.after -= 1;
        return false;
      }
      count.times -= 1;
      return true;
    });
    return all[met]?.fault;
  };
  return Object.assign(plan, { left: () => counts.reduce((sum, { times }) => sum + times, 0) });
}
