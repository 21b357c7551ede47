/** Which containers may swap where the node gives out its swap (C25). */

import type { Container } from '../api/schema/container.ts';
import type { Pod } from '../api/schema/pod.ts';
import { isCriticalPod } from '../api/staticPod.ts';
import { qosClass } from './qos.ts';
import { amountOf } from './resources.ts';

/** Under LimitedSwap those of Burstable pods that ask for less memory than they may have; of critical pods none. */
export const maySwap = (pod: Pod, { resources }: Container): boolean =>
  !isCriticalPod(pod) &&
  qosClass(pod.spec) === 'Burstable' &&
  amountOf(resources, 'requests', 'memory') !== amountOf(resources, 'limits', 'memory');
