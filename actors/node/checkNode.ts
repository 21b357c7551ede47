/** Validates the arguments of `createNode`, because callers may be untyped programs. */
import { isIP } from 'node:net';
import * as z from 'zod/mini';
import { checkShape, functionSchema } from '../../kubernetes/api/checkShape.ts';
import { TOPOLOGY_POLICIES } from '../../kubernetes/cpus/topologyHints.ts';
import { SIGNALS } from '../../kubernetes/eviction/signals.ts';
import { VERIFICATION_POLICIES } from '../../kubernetes/images/imageVerification.ts';
import type { NodeAgentConfig } from './nodeAgentConfig.ts';

const optionalFunctionSchema = z.optional(functionSchema);
const nameSchema = z.string().check(z.minLength(1));
const headerSchema = z.tuple([nameSchema, z.string()]);
const pathSchema = nameSchema.check(
  z.refine((value) => !value.includes('\0'), { error: 'expected a path without NUL' }),
);
const nonNegativeSchema = z.number().check(z.gte(0));
const percentSchema = z.number().check(z.gte(0), z.lte(100));
const intervalSchema = z.optional(z.number().check(z.gte(1)));
const amountsSchema = z.looseObject({
  cpuMillis: nonNegativeSchema,
  memoryBytes: nonNegativeSchema,
  pods: nonNegativeSchema,
});
const slotCountSchema = z.int().check(z.gte(1));
const unboundedSchema = z.literal(Number.POSITIVE_INFINITY);
/** The schema of a count that may be unlimited. */
const countSchema = z.union([z.int().check(z.gte(0)), unboundedSchema]);
const stringArraySchema = z.array(z.string());
const optionalBooleanSchema = z.optional(z.boolean());
const addressSchema = z.string().check(z.refine((ip) => isIP(ip) !== 0, { error: 'expected an IP address' }));
/** Whether a cgroup path is valid. As in the kubelet, a leading slash is optional. */
const isCgroupPath = (path: string): boolean => !path.includes('\0') && !path.split('/').includes('..');
const isHttpUrl = (url: string): boolean => ['http:', 'https:'].includes(URL.parse(url)?.protocol ?? '');

const backOffSchema = z
  .looseObject({ baseMs: nonNegativeSchema, maxMs: nonNegativeSchema })
  .check(z.refine(({ baseMs, maxMs }) => baseMs <= maxMs, { error: 'expected at least baseMs', path: ['maxMs'] }));

const manifestUrlSchema = z.looseObject({
  url: nameSchema.check(z.refine(isHttpUrl, { error: 'expected a URL of http or https' })),
  everyMs: nonNegativeSchema.check(z.gte(1)),
  headers: z.array(headerSchema),
});

/** Schema of the node properties that pod admission uses. Missing properties have default values. */
const admissionNodeSchema = z.looseObject({
  labels: z.optional(z.record(z.string(), z.string())),
  taints: z.optional(z.array(z.looseObject({ key: z.string(), effect: z.string() }))),
  sysctls: z.optional(stringArraySchema),
  appArmor: optionalBooleanSchema,
});

/** Schemas of the properties of the node that affect its pods. */
const nodeDescriptionSchemas = {
  cgroupRoot: z.optional(z.string().check(z.refine(isCgroupPath, { error: 'expected the path of a cgroup' }))),
  cgroupDriver: z.optional(z.enum(['cgroupfs', 'systemd'])),
  // `NodeParts` also has a field of this name, so accept any object.
  cgroups: z.optional(z.looseObject({})),
  resolvConf: z.optional(
    z.looseObject({ servers: stringArraySchema, searches: stringArraySchema, options: stringArraySchema }),
  ),
  readResolvConf: optionalFunctionSchema,
  clusterDns: z.optional(z.array(addressSchema)),
  clusterDomain: z.optional(z.string()),
  canLowerOomScoreAdj: optionalBooleanSchema,
  seccompDefault: optionalBooleanSchema,
  maskedPaths: z.optional(z.array(pathSchema)),
  tmpfsNoswap: optionalBooleanSchema,
  userNamespaces: z.optional(z.looseObject({ pods: countSchema, idsPerPod: z.optional(slotCountSchema) })),
};

/** Sinks are identified by name, so names must be unique. */
const sinksSchema = z
  .array(z.looseObject({ name: nameSchema, mustAcknowledge: z.boolean(), put: functionSchema }))
  .check(({ value, issues }) => {
    const names = value.map((sink) => sink.name);
    const duplicateIndex = names.findIndex((each, index) => names.indexOf(each) < index);
    const duplicateIssue = {
      code: 'custom' as const,
      message: 'another sink has this name',
      path: [duplicateIndex, 'name'],
      input: value,
    };
    if (duplicateIndex >= 0) issues.push(duplicateIssue);
  });

const cpuSetSchema = z.array(countSchema);

const topologyManagerSchema = z.looseObject({
  policy: z.looseObject({ name: z.enum(TOPOLOGY_POLICIES), isPerPod: z.boolean(), prefersClosest: z.boolean() }),
  numaNodes: z.looseObject({
    ids: cpuSetSchema,
    distances: z.optional(z.record(z.string(), z.array(countSchema))),
  }),
});

const cpuManagerSchema = z.looseObject({
  cpuPolicy: z.looseObject({
    topology: z.looseObject({ cpus: z.array(z.looseObject({ cpu: countSchema })) }),
    options: z.looseObject({}),
    reserved: cpuSetSchema,
  }),
  reconcileMs: intervalSchema,
});

const memoryManagerSchema = z.looseObject({
  memoryPolicy: z.looseObject({
    nodes: z.array(
      z.looseObject({
        id: countSchema,
        blockCount: countSchema,
        group: cpuSetSchema,
        tables: z.array(z.looseObject({ resource: nameSchema, allocatable: z.number(), free: z.number() })),
      }),
    ),
  }),
});

const configSchemas: { readonly [Field in keyof NodeAgentConfig]-?: z.ZodMiniType } = {
  nodeName: nameSchema,
  rootDir: pathSchema,
  podLogsDir: z.optional(pathSchema),
  runtimeEndpoint: nameSchema,
  ...nodeDescriptionSchemas,
  hostIps: z.optional(z.union([stringArraySchema, functionSchema])),
  podCidr: z.optional(z.string()),
  sources: z.optional(z.array(nameSchema)),
  capacity: amountsSchema,
  allocatable: z.optional(amountsSchema),
  conditions: z.optional(z.array(z.looseObject({ type: nameSchema, status: z.enum(['True', 'False', 'Unknown']) }))),
  admissionNode: z.optional(admissionNodeSchema),
  startSlots: z.optional(slotCountSchema),
  // Infinity means unlimited pulls.
  pullSlots: z.optional(z.union([slotCountSchema, unboundedSchema])),
  crashLoop: z.optional(backOffSchema),
  pullLimitMs: z.optional(nonNegativeSchema),
  slowPullMs: z.optional(nonNegativeSchema),
  fileCheckMs: intervalSchema,
  staticPodPath: z.optional(pathSchema),
  manifestUrl: z.optional(manifestUrlSchema),
  isLenient: optionalBooleanSchema,
  logs: z.optional(
    z.looseObject({
      maxBytes: z.union([nonNegativeSchema, unboundedSchema]),
      maxFiles: nonNegativeSchema,
      workers: slotCountSchema,
      checkMs: intervalSchema,
    }),
  ),
  imageVerification: z.optional(z.looseObject({ policy: z.enum(VERIFICATION_POLICIES), allowlist: stringArraySchema })),
  garbage: z.optional(
    z.looseObject({ perContainer: countSchema, total: countSchema, minAgeMs: z.optional(nonNegativeSchema) }),
  ),
  eviction: z.optional(
    z.looseObject({
      thresholds: z.array(z.looseObject({ signal: z.enum(SIGNALS), value: nameSchema, graceMs: nonNegativeSchema })),
      transitionMs: nonNegativeSchema,
      maxPodGraceSeconds: nonNegativeSchema,
      enforcesStorageLimits: z.boolean(),
    }),
  ),
  shutdown: z.optional(
    z.looseObject({
      periods: z.array(z.looseObject({ priority: z.int(), graceSeconds: nonNegativeSchema })).check(z.minLength(1)),
    }),
  ),
  imageGarbage: z.optional(
    z.looseObject({
      highThresholdPercent: percentSchema,
      lowThresholdPercent: percentSchema,
      minAgeMs: nonNegativeSchema,
      maxAgeMs: nonNegativeSchema,
    }),
  ),
  sinks: z.optional(sinksSchema),
  limitedSwap: optionalBooleanSchema,
  topologyManager: z.optional(topologyManagerSchema),
  cpuManager: z.optional(cpuManagerSchema),
  memoryManager: z.optional(memoryManagerSchema),
  devicePluginDir: z.optional(pathSchema),
  reportsProcessOomKills: optionalBooleanSchema,
  reportsDeviceHealth: optionalBooleanSchema,
  reportsHealthMessages: optionalBooleanSchema,
  reservedCgroups: z.optional(stringArraySchema),
  endsAll: optionalBooleanSchema,
  takesOver: optionalBooleanSchema,
};

const providerSchema = z.optional(z.looseObject({ get: functionSchema }));

/**
 * Validates the configuration and the parts together. Without this check, the node would wait forever for a missing
 * feed or clock.
 */
const argumentsSchema = z.looseObject({
  ...configSchemas,
  cri: z.looseObject({}),
  files: z.optional(z.looseObject({})),
  mounter: z.optional(z.looseObject({})),
  network: z.optional(z.looseObject({ connect: functionSchema, checkHealth: functionSchema, fetch: functionSchema })),
  clock: z.optional(z.looseObject({ now: functionSchema, setTimeout: functionSchema, clearTimeout: functionSchema })),
  ports: z.optional(z.record(z.string(), optionalFunctionSchema)),
  feeds: z.optional(z.record(z.string(), optionalFunctionSchema)),
  jitter: optionalFunctionSchema,
  devicePlugins: z.optional(
    z.looseObject({
      follow: functionSchema,
      preferredDevices: functionSchema,
      allocate: functionSchema,
      preStart: functionSchema,
    }),
  ),
  kernelLog: z.optional(z.looseObject({ read: functionSchema, untilWritten: functionSchema, close: functionSchema })),
  countOomKills: optionalFunctionSchema,
  readImageDisk: optionalFunctionSchema,
  readClasses: optionalFunctionSchema,
  findCredentials: optionalFunctionSchema,
  resourceMeter: z.optional(
    z.looseObject({
      readMemory: functionSchema,
      measureNode: functionSchema,
      measureDiskUsage: functionSchema,
      measurePods: functionSchema,
    }),
  ),
  logind: z.optional(
    z.looseObject({
      readInhibitDelay: functionSchema,
      raiseInhibitDelay: functionSchema,
      watchShutdown: functionSchema,
      holdLock: functionSchema,
    }),
  ),
  restartRuntime: optionalFunctionSchema,
  openStore: optionalFunctionSchema,
  startThread: optionalFunctionSchema,
  nextTurn: optionalFunctionSchema,
  cluster: z.optional(z.looseObject({ client: z.looseObject({ get: functionSchema, watch: functionSchema }) })),
  redaction: z.optional(
    z.looseObject({
      learn: functionSchema,
      learnValues: functionSchema,
      redact: functionSchema,
      texts: functionSchema,
    }),
  ),
  objects: providerSchema,
  tokens: providerSchema,
  trustBundles: providerSchema,
  events: optionalFunctionSchema,
  onInput: optionalFunctionSchema,
  onPortCall: optionalFunctionSchema,
  onPortOutcome: optionalFunctionSchema,
  onStateChange: optionalFunctionSchema,
  onDecision: optionalFunctionSchema,
  onServiceAction: optionalFunctionSchema,
  inspect: optionalFunctionSchema,
  onRelisted: optionalFunctionSchema,
  onError: optionalFunctionSchema,
  onManifestProblem: optionalFunctionSchema,
  onAdopted: optionalFunctionSchema,
  onRuntimeHealth: optionalFunctionSchema,
});

/**
 * Throws a `TypeError` that names the first invalid field. Without this check, a NaN as a time or as a number of slots
 * would make pods wait forever.
 */
export function checkNode(config: object, parts: object): void {
  checkShape(argumentsSchema, { ...config, ...parts }, 'createNode', 'its configuration');
}
