/** What a kube-apiserver's admission plugins do: they change objects before they are written, or refuse them. */
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

/** In the order of a kube-apiserver (`pkg/kubeapiserver/options/plugins.go`). */
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

/** All of them, one after the other. */
export const admission: Admission = (asked) =>
  PLUGINS.reduce<JsonObject>(
    (object, plugin) => plugin({ ...asked, ...(asked.object && { object }) }) ?? object,
    asked.object ?? {},
  );
