import { emptyDirPlugin } from './emptyDir.ts';
import { hostPathPlugin } from './hostPath.ts';
import type { VolumePlugin } from './plugin.ts';
import { configMapPlugin, downwardApiPlugin, projectedPlugin, secretPlugin } from './projected.ts';

export const volumePlugins: readonly VolumePlugin[] = [
  emptyDirPlugin,
  hostPathPlugin,
  downwardApiPlugin,
  projectedPlugin,
  configMapPlugin,
  secretPlugin,
];
