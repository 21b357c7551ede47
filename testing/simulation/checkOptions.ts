/** Validates the options of a simulation, because programs that are not type-checked may pass anything. */
import * as z from 'zod/mini';
import { printableText } from '../../base/text/printable.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import { checkShape, functionSchema } from '../../kubernetes/api/checkShape.ts';
import { DISK_LAYOUTS } from './host/hostResources.ts';
import type { SimulationOptions } from './options.ts';
import { checkSeed } from './random.ts';

const optionalBoolean = z.optional(z.boolean());

type Config = NonNullable<SimulationOptions['config']>;

/** The fields of `config`. `createNode` validates their values. */
const CONFIG: { readonly [Key in keyof Config]-?: true } = {
  admissionNode: true,
  allocatable: true,
  canLowerOomScoreAdj: true,
  capacity: true,
  cgroupDriver: true,
  cgroupRoot: true,
  clusterDns: true,
  clusterDomain: true,
  conditions: true,
  cpuManager: true,
  memoryManager: true,
  topologyManager: true,
  crashLoop: true,
  devicePluginDir: true,
  endsAll: true,
  eviction: true,
  fileCheckMs: true,
  garbage: true,
  imageGarbage: true,
  imageVerification: true,
  isLenient: true,
  limitedSwap: true,
  logs: true,
  manifestUrl: true,
  maskedPaths: true,
  pullLimitMs: true,
  pullSlots: true,
  readResolvConf: true,
  reportsProcessOomKills: true,
  reportsDeviceHealth: true,
  reportsHealthMessages: true,
  reservedCgroups: true,
  resolvConf: true,
  seccompDefault: true,
  shutdown: true,
  slowPullMs: true,
  sources: true,
  startSlots: true,
  takesOver: true,
  tmpfsNoswap: true,
  podCidr: true,
  userNamespaces: true,
};

const FIELDS: { readonly [Key in keyof SimulationOptions]-?: z.ZodMiniType } = {
  /** Validated by `checkSeed`. */
  seed: z.unknown(),
  faults: z.optional(functionSchema),
  invariants: z.optional(
    z.array(z.looseObject({ number: z.optional(z.int()), description: z.string(), follow: functionSchema })),
  ),
  config: z.optional(z.looseObject({})),
  records: optionalBoolean,
  replays: optionalBoolean,
  traces: optionalBoolean,
  overtakes: optionalBoolean,
  inspect: z.optional(functionSchema),
  cluster: z.optional(functionSchema),
  cgroups: z.optional(z.enum(['writable', 'readOnly', 'unused'])),
  diskLayout: z.optional(z.enum(DISK_LAYOUTS)),
  objects: z.optional(z.enum(['Watch', 'Cache', 'Get'])),
};

const schema = z.looseObject(FIELDS);

/** Throws a `TypeError` that names the first invalid option, or a `RangeError` for the seed. */
export function checkOptions(options: SimulationOptions): void {
  checkShape(schema, options, 'simulateNode', 'its options');
  checkSeed(options.seed);
  const unknownOption =
    Object.keys(options).find((key) => lookUp(FIELDS, key) === undefined) ??
    Object.keys(options.config ?? {}).find((key) => lookUp(CONFIG, key) === undefined);
  if (unknownOption !== undefined)
    throw new TypeError(printableText(`simulateNode: there is no such option: ${unknownOption}`));
}
