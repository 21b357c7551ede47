/**
 * Finds mount points inside read-only volumes. They must be created before the container, because the runtime cannot
 * create them in a read-only volume.
 */
import path from 'node:path';
import { containersOf } from '../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';

/**
 * Returns the paths inside a volume at which a container of the pod mounts a volume. They are relative to the volume,
 * and only the outermost paths are included.
 */
export function nestedMountPoints({ spec }: Pod, volume: string): string[] {
  const nestedPoints = containersOf(spec).flatMap(({ container: { volumeMounts = [] } }) => {
    const mountPoints = volumeMounts.map(({ mountPath }) => path.posix.join('/', mountPath));
    return volumeMounts.flatMap(({ name, mountPath }) =>
      name === volume ? outermostPointsBelow(path.posix.join('/', mountPath), mountPoints) : [],
    );
  });
  return [...new Set(nestedPoints)];
}

function outermostPointsBelow(point: string, points: readonly string[]): string[] {
  const nestedPoints = points.filter((candidate) => isBelow(candidate, point));
  const outermostPoints = nestedPoints.filter(
    (candidate) => !nestedPoints.some((container) => isBelow(candidate, container)),
  );
  return outermostPoints.map((candidate) => path.posix.relative(point, candidate));
}

const isBelow = (child: string, parent: string): boolean =>
  child.startsWith(parent === '/' ? parent : `${parent}/`) && child !== parent;
