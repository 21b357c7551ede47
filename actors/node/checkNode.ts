/** Checks what `createNode` is given, as programs without types give it too. */
import { isIP } from 'node:net';
import * as z from 'zod/mini';
import { checkShape, functionSchema } from '../../kubernetes/api/checkShape.ts';
import { VERIFICATION_POLICIES } from '../../kubernetes/images/imageVerification.ts';
import type { NodeAgentConfig } from './nodeAgentConfig.ts';

const maybe = z.optional(functionSchema);
const name = z.string().check(z.minLength(1));
const header = z.tuple([name, z.string()]);
const aPath = name.check(z.refine((value) => !value.includes('\0'), { error: 'expected a path without NUL' }));
const amount = z.number().check(z.gte(0));
const interval = z.optional(z.number().check(z.gte(1)));
const amounts = z.looseObject({ cpuMillis: amount, memoryBytes: amount, pods: amount });
const slots = z.int().check(z.gte(1));
const unbounded = z.literal(Number.POSITIVE_INFINITY);
/** A count that need not be bounded. */
const count = z.union([z.int().check(z.gte(0)), unbounded]);
const texts = z.array(z.string());
const yesOrNo = z.optional(z.boolean());
const address = z.string().check(z.refine((ip) => isIP(ip) !== 0, { error: 'expected an IP address' }));
/** A kubelet takes it without a slash at its beginning too. */
const isCgroup = (path: string): boolean => !path.includes('\0') && !path.split('/').includes('..');
const isHttp = (url: string): boolean => ['http:', 'https:'].includes(URL.parse(url)?.protocol ?? '');

const backOff = z
  .looseObject({ baseMs: amount, maxMs: amount })
  .check(z.refine(({ baseMs, maxMs }) => baseMs <= maxMs, { error: 'expected at least baseMs', path: ['maxMs'] }));

const manifestUrl = z.looseObject({
  url: name.check(z.refine(isHttp, { error: 'expected a URL of http or https' })),
  everyMs: amount.check(z.gte(1)),
  headers: z.array(header),
});

/** Whatever else admission needs is as on a node with nothing special. */
const admissionNode = z.looseObject({
  labels: z.optional(z.record(z.string(), z.string())),
  taints: z.optional(z.array(z.looseObject({ key: z.string(), effect: z.string() }))),
  sysctls: z.optional(texts),
  appArmor: yesOrNo,
});

/** What pods are told of the node. */
const description = {
  cgroupRoot: z.optional(z.string().check(z.refine(isCgroup, { error: 'expected the path of a cgroup' }))),
  cgroupDriver: z.optional(z.enum(['cgroupfs', 'systemd'])),
  // A part has this name too.
  cgroups: z.optional(z.looseObject({})),
  resolvConf: z.optional(z.looseObject({ servers: texts, searches: texts, options: texts })),
  readResolvConf: maybe,
  clusterDns: z.optional(z.array(address)),
  clusterDomain: z.optional(z.string()),
  canLowerOomScoreAdj: yesOrNo,
  seccompDefault: yesOrNo,
  maskedPaths: z.optional(z.array(aPath)),
  userNamespaces: z.optional(z.looseObject({ pods: count, idsPerPod: z.optional(slots) })),
};

/** A sink is known by its name alone. */
const sinks = z
  .array(z.looseObject({ name, mustAcknowledge: z.boolean(), put: functionSchema }))
  .check(({ value, issues }) => {
    const names = value.map((sink) => sink.name);
    const twice = names.findIndex((each, index) => names.indexOf(each) < index);
    const issue = {
      code: 'custom' as const,
      message: 'another sink has this name',
      path: [twice, 'name'],
      input: value,
    };
    if (twice >= 0) issues.push(issue);
  });

const config: { readonly [Field in keyof NodeAgentConfig]-?: z.ZodMiniType } = {
  nodeName: name,
  rootDir: aPath,
  podLogsDir: z.optional(aPath),
  runtimeEndpoint: name,
  ...description,
  hostIps: z.optional(z.union([texts, functionSchema])),
  podCidr: z.optional(z.string()),
  sources: z.optional(z.array(name)),
  capacity: amounts,
  allocatable: z.optional(amounts),
  conditions: z.optional(z.array(z.looseObject({ type: name, status: z.enum(['True', 'False', 'Unknown']) }))),
  admissionNode: z.optional(admissionNode),
  startSlots: z.optional(slots),
  // Pulls need not be bounded.
  pullSlots: z.optional(z.union([slots, unbounded])),
  crashLoop: z.optional(backOff),
  pullLimitMs: z.optional(amount),
  slowPullMs: z.optional(amount),
  fileCheckMs: interval,
  staticPodPath: z.optional(aPath),
  manifestUrl: z.optional(manifestUrl),
  isLenient: yesOrNo,
  logs: z.optional(
    z.looseObject({ maxBytes: z.union([amount, unbounded]), maxFiles: amount, workers: slots, checkMs: interval }),
  ),
  imageVerification: z.optional(z.looseObject({ policy: z.enum(VERIFICATION_POLICIES), allowlist: texts })),
  garbage: z.optional(z.looseObject({ perContainer: count, total: count })),
  sinks: z.optional(sinks),
  limitedSwap: yesOrNo,
  endsAll: yesOrNo,
  takesOver: yesOrNo,
};

const content = z.optional(z.looseObject({ get: functionSchema }));

/** The configuration and the parts in one. A feed or a clock that is missing would be waited for. */
const schema = z.looseObject({
  ...config,
  cri: z.looseObject({}),
  files: z.optional(z.looseObject({})),
  mounter: z.optional(z.looseObject({})),
  network: z.optional(z.looseObject({ connect: functionSchema, checkHealth: functionSchema, fetch: functionSchema })),
  clock: z.optional(z.looseObject({ now: functionSchema, setTimeout: functionSchema, clearTimeout: functionSchema })),
  ports: z.optional(z.record(z.string(), maybe)),
  feeds: z.optional(z.record(z.string(), maybe)),
  jitter: maybe,
  readClasses: maybe,
  findCredentials: maybe,
  restartRuntime: maybe,
  openStore: maybe,
  startThread: maybe,
  nextTurn: maybe,
  cluster: z.optional(z.looseObject({ client: z.looseObject({ get: functionSchema, watch: functionSchema }) })),
  redaction: z.optional(
    z.looseObject({
      learn: functionSchema,
      learnValues: functionSchema,
      redact: functionSchema,
      texts: functionSchema,
    }),
  ),
  objects: content,
  tokens: content,
  trustBundles: content,
  events: maybe,
  record: maybe,
  calls: maybe,
  answers: maybe,
  moves: maybe,
  decisions: maybe,
  deeds: maybe,
  inspect: maybe,
  onRelisted: maybe,
  onError: maybe,
  onManifestProblem: maybe,
  onAdopted: maybe,
  onRuntimeHealth: maybe,
});

/**
 * Throws a `TypeError` that names the field of the first thing that is wrong: with NaN for a time or a number of slots,
 * pods would wait for ever.
 */
export function checkNode(config: object, parts: object): void {
  checkShape(schema, { ...config, ...parts }, 'createNode', 'its configuration');
}
