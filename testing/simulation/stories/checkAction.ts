/** Validates an action before it is performed, because programs without type checking may pass anything. */
import { isIP } from 'node:net';
import * as z from 'zod/mini';
import { printableText } from '../../../base/text/printable.ts';
import { checkShape } from '../../../kubernetes/api/checkShape.ts';
import { formatValue } from '../../../kubernetes/api/problem.ts';
import { OBJECT_KINDS } from '../cluster/apiObject.ts';
import { API_PART_FAULTS, API_PARTS } from '../cluster/apiPartFaults.ts';
import { HOST_RESOURCES } from '../host/hostResources.ts';
import { CALL_TARGETS } from '../run/gate.ts';
import type { Action } from './story.ts';

const ms = z.number().check(z.gte(0));
const which = z.int().check(z.gte(0));
const share = z.number().check(z.gte(0), z.lte(1));
const pod = z.string().check(z.minLength(1));
const yesOrNo = z.optional(z.boolean());
const LONGEST_FILE = 255;
/** Whether a directory can have an entry with this name. */
const isFile = (name: string): boolean => !/^\.{0,2}$|[/\0]/.test(name) && Buffer.byteLength(name) <= LONGEST_FILE;
const file = z.string().check(z.refine(isFile, { error: 'expected the name of a file' }));
/** Whether a path stays below the directory that it is joined to. */
const isBelow = (path: string): boolean => !/^$|\0/.test(path) && !path.split('/').includes('..');
const below = z.string().check(z.refine(isBelow, { error: 'expected a path below the directory' }));
const isUid = (uid: string): boolean => /^[\w-]+$/.test(uid) && isFile(uid);
/** Manifests are validated later, when they are applied. */
const aManifest = z.looseObject({});

const address = z
  .string()
  .check(z.refine((ip) => isIP(ip) !== 0 && !ip.includes('%'), { error: 'expected an IP address' }));
const text = z.string();
const exitCode = z.int().check(z.gte(0), z.lte(255));

const labels = z.record(z.string(), z.string());

const object = z.strictObject({
  of: z.enum(OBJECT_KINDS),
  name: pod,
  data: z.record(z.string(), z.string()),
  immutable: yesOrNo,
});

const span = { forMs: ms };
const down = { downMs: ms };
const manifestAs = { pod, file };

type OwnFields<D> = { readonly [F in Exclude<keyof D, 'kind'>]-?: z.ZodMiniType };

const FIELDS: { readonly [K in Action['kind']]: OwnFields<Action & { readonly kind: K }> } = {
  apply: { pod: aManifest, by: z.optional(z.literal('url')) },
  writeInParts: { pod: aManifest, share, restMs: ms },
  remove: { pod },
  renameManifest: manifestAs,
  copyManifest: manifestAs,
  renameListed: { pod, name: text },
  scribble: { file, text },
  spoil: { ...span, pod, how: z.enum(['empty', 'cut', 'noise', 'refused']) },
  manifestsGone: span,
  url: { ...span, fault: z.enum(['refused', 'silent', 'hanging', 'half', 'garbage', 'failing', 'slow']) },
  exit: { which, exitCode, reason: z.optional(text) },
  oom: { which, child: z.boolean() },
  systemOom: { which },
  killSandbox: { which },
  removeSandbox: { which },
  runtimeDown: {
    ...down,
    keepContainers: z.boolean(),
    forgets: z.optional(share),
    renames: z.optional(share),
    recalls: yesOrNo,
    hasUnknown: yesOrNo,
  },
  stall: span,
  networkDown: span,
  noAddresses: span,
  lists: { ...span, show: z.enum(['stale', 'shuffled']) },
  events: { ...span, delivery: z.enum(['paused', 'dropped', 'doubled', 'late', 'reordered', 'some']) },
  registryDown: { ...span, images: z.array(text) },
  loseImage: { image: text },
  imageDiskFull: span,
  watches: { ...span, fault: z.enum(['dropped', 'doubled', 'late', 'exhausted']) },
  mountForeign: { ...span, which, at: below },
  disk: { ...span, fault: z.enum(['full', 'readOnly', 'failing', 'noDescriptors', 'tableFull']) },
  visit: { ...span, uid: z.string().check(z.refine(isUid, { error: 'expected a UID' })) },
  addresses: { ips: z.array(address).check(z.minLength(1)) },
  cgroupsReadOnly: span,
  flaky: { ...span, target: z.enum(CALL_TARGETS), share },
  shutdown: { isCancelled: z.boolean() },
  logindDown: span,
  pressure: { ...span, resource: z.enum(HOST_RESOURCES), share },
  pluginDown: span,
  deviceDown: { ...span, which },
  jump: { ms: z.number() },
  stopAgent: { ...down, drains: z.boolean() },
  killAgent: down,
  powerCut: down,
  connectDriver: { driver: text },
  disconnectDriver: { driver: text },
  createPod: { pod: aManifest },
  deletePod: { pod, graceSeconds: z.optional(z.int().check(z.gte(0))) },
  replacePod: { pod: aManifest },
  labelPod: { pod, labels },
  failPod: { pod },
  setImage: { pod, container: text, image: text },
  putObject: { object },
  deleteObject: { of: z.enum(OBJECT_KINDS), name: pod },
  remakeObject: { object },
  apiPart: { ...span, part: z.enum(API_PARTS), how: z.enum(API_PART_FAULTS) },
  apiAway: { ...span, how: z.enum(['refused', 'hanging']) },
  apiSilent: span,
  apiRestart: { forgets: z.boolean() },
};

const schemas = new Map(
  Object.entries(FIELDS).map(([kind, fields]) => [kind, z.strictObject({ kind: z.string(), ...fields })]),
);

/**
 * Throws a `TypeError` that names the first invalid field of an action. `place` is the path of the action in a larger
 * value.
 */
export function checkAction(action: Action, place = ''): void {
  const schema = schemas.get(action?.kind);
  if (schema === undefined)
    throw new TypeError(printableText(`${place}there is no such action: ${formatValue(action)}`));
  checkShape(schema, action, `${place}there is no such action of the kind ${action.kind}`, 'it');
}
