/** The admission plugins of the API server, which change or reject writes. */
import type { JsonObject } from '../json.ts';
import { certificateRequests } from './certificateRequests.ts';
import { defaultTolerations } from './defaultTolerations.ts';
import { namespaceLifecycle } from './namespaceLifecycle.ts';
import { nodeRestriction } from './nodeRestriction.ts';
import { nodeTaint } from './nodeTaint.ts';
import type { Admission, Plugin } from './plugin.ts';
import { podResize } from './podResize.ts';
import { priority } from './priority.ts';
import { runtimeClass } from './runtimeClass.ts';
import { serviceAccount } from './serviceAccount.ts';
import { storageInUse } from './storageInUse.ts';

/** The plugins in the order of the kube-apiserver (`pkg/kubeapiserver/options/plugins.go`). */
const PLUGINS: readonly Plugin[] = [
  namespaceLifecycle,
  serviceAccount,
  nodeRestriction,
  nodeTaint,
  priority,
  defaultTolerations,
  storageInUse,
  runtimeClass,
  certificateRequests,
  podResize,
];

/** Runs all plugins sequentially. Each plugin receives the object that the previous one returned. */
export const admission: Admission = (request) =>
  PLUGINS.reduce<JsonObject>(
    (object, plugin) => plugin({ ...request, ...(request.object && { object }) }) ?? object,
    request.object ?? {},
  );
