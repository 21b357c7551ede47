import { type ShutdownPeriod, sharedPeriods, sortPeriods } from '../../../kubernetes/shutdown/periods.ts';
import { followsShutdown } from '../featureGates.ts';
import type { SettingValues } from '../settings/settingValues.ts';

/** Compiles the shutdown grace periods by pod priority. Empty if the node does not delay a shutdown. */
export function shutdownPeriods(values: SettingValues): readonly ShutdownPeriod[] {
  if (!followsShutdown(values)) return [];
  const byPriority = values.shutdownGracePeriodByPodPriority ?? [];
  const periods =
    byPriority.length === 0
      ? sharedPeriods(values.shutdownGracePeriod, values.shutdownGracePeriodCriticalPods)
      : byPriority.map(({ priority, shutdownGracePeriodSeconds: graceSeconds }) => ({ priority, graceSeconds }));
  return Object.freeze(sortPeriods(periods));
}
