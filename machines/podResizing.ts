/** What of a pod's resize is still to be done: its containers, then its own cgroup. The chart is in pod.ts. */
import type { Refusal } from '../pod/claims.ts';
import { lookUp } from '../pod/lookUp.ts';
import { isResizable, resizeRefusal, resourcesOf, sameResources, sameSize, withResources } from '../pod/resize.ts';
import { containerSize } from '../pod/resources.ts';
import type { Pod } from '../pod/schema/pod.ts';
import type { PodContext } from './podContext.ts';

/** What to ask of the node for a version of the pod: one that can not be resized to it keeps its resources. */
export function wish(
  { allocated }: Pick<PodContext, 'allocated'>,
  desired: Pod,
): { desired: Pod; asked: Pod; unadmitted: Refusal | undefined } {
  const unadmitted = resizeRefusal(allocated, desired);
  const asked = unadmitted === undefined ? desired : withResources(desired, resourcesOf(allocated));
  return { desired, asked, unadmitted };
}

/** Some container that has a process still has another size than was admitted for it. */
const hasMissized = ({ allocated, containers, sizes }: PodContext): boolean => {
  const { spec } = allocated;
  return [...(spec.initContainers ?? []), ...spec.containers].some((container) => {
    const size = lookUp(sizes, container.name);
    const standing = lookUp(containers, container.name);
    const lives = standing === 'running' || standing === 'live' || standing === 'launching';
    return (
      lives && isResizable(spec, container) && size !== undefined && !sameSize(size, containerSize(spec, container))
    );
  });
};

/** The pod's own cgroup is not yet that of the resources that were admitted. */
export const isUnfitted = ({ fitted, allocated }: PodContext): boolean =>
  fitted !== allocated && (fitted === undefined || !sameResources(resourcesOf(fitted), resourcesOf(allocated)));

/** Its containers have their sizes: its cgroup may shrink to what they are together. */
export const mustFit = (context: PodContext): boolean => isUnfitted(context) && !hasMissized(context);

export const isResizing = (context: PodContext): boolean => isUnfitted(context) || hasMissized(context);
