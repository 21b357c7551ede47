/** Determines which containers may use swap on a node that allows it (C25). */

import { isCriticalPod } from '../api/pods/staticPod.ts';
import type { Container } from '../api/schema/container.ts';
import type { Pod } from '../api/schema/pod.ts';
import { qosClass } from './qos.ts';
import { amountOf } from './resources.ts';

/**
 * Whether a container may use swap under LimitedSwap. This is the case if the container's memory request differs from
 * its memory limit and its pod is Burstable and not critical.
 */
export const canUseSwap = (pod: Pod, { resources }: Container): boolean =>
  !isCriticalPod(pod) &&
  qosClass(pod.spec) === 'Burstable' &&
  amountOf(resources, 'requests', 'memory') !== amountOf(resources, 'limits', 'memory');
