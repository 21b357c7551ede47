/** Where containers mount other volumes within one that they can only read: nobody could make these places later. */
import path from 'node:path';
import { containersOf } from '../kubernetes/api/containers.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';

/** The outermost places below a volume that any container of the pod mounts something at, relative to the volume. */
export function nestedMountPoints({ spec }: Pod, volume: string): string[] {
  const found = containersOf(spec).flatMap(({ container: { volumeMounts = [] } }) => {
    const points = volumeMounts.map(({ mountPath }) => path.posix.join('/', mountPath));
    return volumeMounts.flatMap(({ name, mountPath }) =>
      name === volume ? below(path.posix.join('/', mountPath), points) : [],
    );
  });
  return [...new Set(found)];
}

function below(point: string, points: readonly string[]): string[] {
  const inside = points.filter((each) => isBelow(each, point));
  const outermost = inside.filter((each) => !inside.some((other) => isBelow(each, other)));
  return outermost.map((each) => path.posix.relative(point, each));
}

const isBelow = (place: string, other: string): boolean =>
  place.startsWith(other === '/' ? other : `${other}/`) && place !== other;
