import { parseDuration } from '../../../kubernetes/api/parseDuration.ts';
import {
  allowlistRefusal,
  defaultVerification,
  VERIFICATION_POLICIES,
} from '../../../kubernetes/images/imageVerification.ts';
import {
  booleanSchema,
  durationSchema,
  endpointSchema,
  enumSchema,
  integerSchema,
  listSchema,
  path,
  stringSchema,
} from '../fields.ts';
import { type ConfigRule, createRule } from './rule.ts';
import { declareSettings, type FieldsOf } from './setting.ts';

/** Settings of the container runtime's endpoints. */
const endpointSettings = () =>
  declareSettings({
    containerRuntimeEndpoint: {
      type: endpointSchema,
      default: 'unix:///run/containerd/containerd.sock',
      effect: 'the socket of the CRI runtime',
      flag: {
        name: '--container-runtime-endpoint',
        argument: '<socket>',
        help: 'endpoint of the CRI runtime service, as unix:///path (default: {default})',
        upDefault: 'a private containerd',
        emptyIsUnset: true,
      },
    },
    imageServiceEndpoint: {
      type: endpointSchema,
      effect: "the socket of the CRI image service (the runtime's)",
      flag: {
        name: '--image-service-endpoint',
        argument: '<socket>',
        help: 'endpoint of the CRI image service (default: that of the runtime service)',
        emptyIsUnset: true,
      },
    },
    '--image-credential-provider-config': {
      type: path,
      flag: { argument: '<path>', help: 'file, or directory, that names plugins with credentials' },
    },
    '--image-credential-provider-bin-dir': {
      type: path,
      flag: { argument: '<directory>', help: 'directory of the programs of these plugins' },
    },
    runtimeRequestTimeout: {
      type: durationSchema(),
      default: '2m',
      effect: 'how long a call to the runtime may take ({default})',
      unsupportedFlag: '--runtime-request-timeout',
    },
  });

/** Settings of image pulls. */
const imagePullSettings = () =>
  declareSettings({
    serializeImagePulls: {
      type: booleanSchema,
      allowsZeroValue: true,
      effect: 'one pull at a time (true, unless `maxParallelImagePulls` is more than 1)',
      unsupportedFlag: '--serialize-image-pulls',
    },
    maxParallelImagePulls: {
      type: integerSchema(1),
      allowsZeroValue: true,
      effect: 'how many pulls at a time when they are not serialized',
    },
    imagePullCredentialsVerificationPolicy: {
      type: enumSchema('', ...VERIFICATION_POLICIES),
      default: defaultVerification.policy,
      effect: 'which images that are there a pod has to prove its right to ({default})',
    },
    preloadedImagesVerificationAllowlist: {
      type: listSchema(stringSchema),
      default: defaultVerification.allowlist,
      effect: 'images that need no proof under `NeverVerifyAllowlistedImages`',
    },
    imagePullTimeout: {
      type: durationSchema(),
      default: '1h',
      allowsZeroValue: true,
      hidesDefault: true,
      effect: 'how long one pull may take ({default}; `0s`: as long as it takes); a kubelet has no such field',
    },
    slowImagePullAfter: {
      type: durationSchema(),
      default: '2m',
      allowsZeroValue: true,
      hidesDefault: true,
      effect:
        'how long pulls may hold up those from other registries ({default}; `0s`: as long as they take); a kubelet has no such field',
    },
    registryPullQPS: {
      type: integerSchema(),
      default: 5,
      allowsZeroValue: true,
      ignored: 'pulls are limited in number, not in rate',
      unsupportedFlag: '--registry-qps',
    },
    registryBurst: {
      type: integerSchema(),
      default: 10,
      ignored: 'pulls are limited in number, not in rate',
      unsupportedFlag: '--registry-burst',
    },
  });

const MINIMUM_GC_AGE = '2m0s';
const HIGH_THRESHOLD_PERCENT = 85;
const LOW_THRESHOLD_PERCENT = 80;

/** Settings for the removal of unused images. */
const imageGarbage = () =>
  declareSettings({
    imageMinimumGCAge: {
      type: durationSchema(),
      default: MINIMUM_GC_AGE,
      ignored: 'unused images are not removed yet',
      unsupportedFlag: '--minimum-image-ttl-duration',
    },
    imageMaximumGCAge: { type: durationSchema(), default: '0s', ignored: 'unused images are not removed yet' },
    imageGCHighThresholdPercent: {
      type: integerSchema(0, 100),
      default: HIGH_THRESHOLD_PERCENT,
      allowsZeroValue: true,
      ignored: 'unused images are not removed yet',
      unsupportedFlag: '--image-gc-high-threshold',
    },
    imageGCLowThresholdPercent: {
      type: integerSchema(0, 100),
      default: LOW_THRESHOLD_PERCENT,
      allowsZeroValue: true,
      ignored: 'unused images are not removed yet',
      unsupportedFlag: '--image-gc-low-threshold',
    },
  });

/** Settings of the container runtime and of the node's images. */
export const runtimeSettings = () => ({ ...endpointSettings(), ...imagePullSettings(), ...imageGarbage() });

type RuntimeFields = FieldsOf<ReturnType<typeof runtimeSettings>>;

export const runtimeRules: readonly ConfigRule<RuntimeFields>[] = [
  createRule('maxParallelImagePulls', 'must be 1 where serializeImagePulls is true', (config) => {
    return config.serializeImagePulls !== true || (config.maxParallelImagePulls ?? 1) === 1;
  }),
  createRule('imageGCLowThresholdPercent', 'must be less than imageGCHighThresholdPercent', (config) => {
    const low = config.imageGCLowThresholdPercent ?? LOW_THRESHOLD_PERCENT;
    return low < (config.imageGCHighThresholdPercent ?? HIGH_THRESHOLD_PERCENT);
  }),
  createRule(
    'imageMaximumGCAge',
    `must be longer than imageMinimumGCAge (${MINIMUM_GC_AGE} if it is not set)`,
    (config) => {
      const { imageMaximumGCAge = 0, imageMinimumGCAge } = config;
      return imageMaximumGCAge === 0 || imageMaximumGCAge > (imageMinimumGCAge || (parseDuration(MINIMUM_GC_AGE) ?? 0));
    },
  ),
  createRule('preloadedImagesVerificationAllowlist', 'needs the policy "NeverVerifyAllowlistedImages"', (config) => {
    const { preloadedImagesVerificationAllowlist: allowlist = [], imagePullCredentialsVerificationPolicy: policy } =
      config;
    return allowlist.length === 0 || policy === 'NeverVerifyAllowlistedImages';
  }),
  createRule(
    'preloadedImagesVerificationAllowlist',
    'has entries that are neither an image without tag and digest nor end in "/*"',
    (config) => {
      return (config.preloadedImagesVerificationAllowlist ?? []).every(
        (entry) => allowlistRefusal(entry) === undefined,
      );
    },
  ),
];
