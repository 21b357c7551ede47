import { parseDuration } from '../../../kubernetes/api/values/parseDuration.ts';
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
  pathSchema,
  stringSchema,
} from '../fields/fields.ts';
import { type ConfigRule, createRule } from './rule.ts';
import { declareSettings, type FieldsOf } from './setting.ts';

const endpointSettings = () =>
  declareSettings({
    containerRuntimeEndpoint: {
      type: endpointSchema,
      default: 'unix:///run/containerd/containerd.sock',
      effect: 'the endpoint of the CRI runtime service',
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
      effect: 'the endpoint of the CRI image service (that of the runtime service)',
      flag: {
        name: '--image-service-endpoint',
        argument: '<socket>',
        help: 'endpoint of the CRI image service (default: that of the runtime service)',
        emptyIsUnset: true,
      },
    },
    '--image-credential-provider-config': {
      type: pathSchema,
      flag: {
        argument: '<path>',
        help: 'path of the configuration of the image credential provider plugins, a file or a directory',
      },
    },
    '--image-credential-provider-bin-dir': {
      type: pathSchema,
      flag: { argument: '<directory>', help: 'directory of the executables of these plugins' },
    },
    runtimeRequestTimeout: {
      type: durationSchema(),
      default: '2m',
      effect: 'the timeout of calls to the runtime ({default})',
      unsupportedFlag: '--runtime-request-timeout',
    },
  });

const imagePullSettings = () =>
  declareSettings({
    serializeImagePulls: {
      type: booleanSchema,
      allowsZeroValue: true,
      effect: 'whether images are pulled one at a time (true unless `maxParallelImagePulls` is greater than 1)',
      unsupportedFlag: '--serialize-image-pulls',
    },
    maxParallelImagePulls: {
      type: integerSchema(1),
      allowsZeroValue: true,
      effect: 'the maximum number of concurrent pulls if they are not serialized',
    },
    imagePullCredentialsVerificationPolicy: {
      type: enumSchema('', ...VERIFICATION_POLICIES),
      default: defaultVerification.policy,
      effect: 'which images that are present on the node require credentials of the pod ({default})',
    },
    preloadedImagesVerificationAllowlist: {
      type: listSchema(stringSchema),
      default: defaultVerification.allowlist,
      effect: 'the images that require no credentials under `NeverVerifyAllowlistedImages`',
    },
    imagePullTimeout: {
      type: durationSchema(),
      default: '1h',
      allowsZeroValue: true,
      hidesDefault: true,
      effect: 'the timeout of a pull ({default}; `0s`: no timeout); a kubelet does not have this field',
    },
    slowImagePullAfter: {
      type: durationSchema(),
      default: '2m',
      allowsZeroValue: true,
      hidesDefault: true,
      effect:
        'the time after which a pull no longer blocks pulls from other registries ({default}; `0s`: no limit); a kubelet does not have this field',
    },
    registryPullQPS: {
      type: integerSchema(),
      default: 5,
      allowsZeroValue: true,
      ignoredReason: 'the number of concurrent pulls is limited, but not their rate',
      unsupportedFlag: '--registry-qps',
    },
    registryBurst: {
      type: integerSchema(),
      default: 10,
      ignoredReason: 'the number of concurrent pulls is limited, but not their rate',
      unsupportedFlag: '--registry-burst',
    },
  });

const MINIMUM_GC_AGE = '2m0s';
const HIGH_THRESHOLD_PERCENT = 85;
const LOW_THRESHOLD_PERCENT = 80;

/** Settings for the removal of unused images. */
const imageGarbageSettings = () =>
  declareSettings({
    imageMinimumGCAge: {
      type: durationSchema(),
      default: MINIMUM_GC_AGE,
      effect: 'the time for which an image is retained after it was first seen ({default})',
      unsupportedFlag: '--minimum-image-ttl-duration',
    },
    imageMaximumGCAge: {
      type: durationSchema(),
      default: '0s',
      effect: 'the time after which an unused image is removed (`0s`: never)',
    },
    imageGCHighThresholdPercent: {
      type: integerSchema(0, 100),
      default: HIGH_THRESHOLD_PERCENT,
      allowsZeroValue: true,
      effect: 'the usage of the image filesystem from which unused images are removed ({default} %; 100: never)',
      unsupportedFlag: '--image-gc-high-threshold',
    },
    imageGCLowThresholdPercent: {
      type: integerSchema(0, 100),
      default: LOW_THRESHOLD_PERCENT,
      allowsZeroValue: true,
      effect: 'the usage of the image filesystem down to which unused images are removed ({default} %)',
      unsupportedFlag: '--image-gc-low-threshold',
    },
  });

/** Settings of the container runtime and of the node's images. */
export const runtimeSettings = () => ({ ...endpointSettings(), ...imagePullSettings(), ...imageGarbageSettings() });

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
