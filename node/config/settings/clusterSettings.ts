import { taintSchema, taintsFlagSchema } from '../fields/admissionFields.ts';
import {
  booleanSchema,
  directorySchema,
  durationSchema,
  enumSchema,
  integerSchema,
  listSchema,
  matchingStringSchema,
  pathSchema,
  stringSchema,
} from '../fields/fields.ts';
import { declareSettings } from './setting.ts';

/** Whether a cloud controller sets the node's addresses. */
export const isExternalProvider = (provider: string | undefined): boolean => provider === 'external';

const cloudProviderSchema = matchingStringSchema(
  '"external" or nothing, as the cloud providers inside of Kubernetes are gone',
  (provider) => provider === '' || isExternalProvider(provider),
);

/** Settings of the cluster that the node joins, and of the node's credentials for it. */
const membershipSettings = () =>
  declareSettings({
    '--kubeconfig': {
      type: pathSchema,
      flag: { argument: '<file>', help: 'kubeconfig for connecting to the API server (default: {default})' },
    },
    '--bootstrap-kubeconfig': {
      type: pathSchema,
      flag: {
        argument: '<file>',
        help: 'kubeconfig for requesting a client certificate if that of --kubeconfig has no valid one (default: {default})',
      },
    },
    '--cert-dir': {
      type: directorySchema,
      flag: {
        argument: '<directory>',
        help: 'directory for the certificates that the node manages (default: pki in --root-dir)',
      },
    },
    rotateCertificates: {
      type: booleanSchema,
      default: false,
      effect: 'whether to rotate the client certificate after 70 to 90 % of its lifetime',
      flag: {
        name: '--rotate-certificates',
        argument: '[boolean]',
        help: 'rotate the client certificate before it expires (default: {default})',
      },
    },
    serverTLSBootstrap: {
      type: booleanSchema,
      default: false,
      effect: 'whether to request the serving certificate from the API server',
      flag: {
        name: '--rotate-server-certificates',
        argument: '[boolean]',
        help: 'request the serving certificate from the API server, and rotate it (default: {default})',
      },
    },
  });

/** Settings of the Node object. */
const registrationSettings = () =>
  declareSettings({
    registerNode: {
      type: booleanSchema,
      default: true,
      allowsZeroValue: true,
      effect: 'whether the node registers itself with the API server ({default})',
      flag: {
        name: '--register-node',
        argument: '[boolean]',
        help: 'register the node with the API server by creating its Node object (default: {default})',
      },
    },
    registerWithTaints: {
      type: listSchema(taintSchema),
      effect:
        'the taints to register the node with; pods that do not tolerate a NoExecute taint are rejected unless they are static',
      flag: {
        name: '--register-with-taints',
        argument: '<taints>',
        type: taintsFlagSchema,
        help: 'taints to register the node with, e.g. key=value:NoSchedule',
      },
    },
    providerID: {
      type: stringSchema,
      default: '',
      effect: 'the `providerID` of the Node object',
      flag: { name: '--provider-id', argument: '<id>', help: 'unique identifier of the node at the cloud provider' },
    },
    '--cloud-provider': {
      type: cloudProviderSchema,
      flag: {
        argument: '<name>',
        help: 'external if a cloud controller manager sets the addresses of the node (default: {default})',
      },
    },
    enableControllerAttachDetach: {
      type: booleanSchema,
      default: true,
      allowsZeroValue: true,
      effect: 'whether the attach/detach controller attaches volumes to the node ({default})',
      unsupportedFlag: '--enable-controller-attach-detach',
    },
  });

/** Settings for reporting the node's status to its cluster. */
const reportingSettings = () =>
  declareSettings({
    nodeStatusUpdateFrequency: {
      type: durationSchema(),
      default: '10s',
      effect: "the interval between two checks for changes of the node's status ({default})",
      unsupportedFlag: '--node-status-update-frequency',
    },
    nodeStatusReportFrequency: {
      type: durationSchema(),
      default: '5m',
      defaultFrom: 'nodeStatusUpdateFrequency',
      effect: "the maximum interval between two updates of the node's status ({default})",
    },
    nodeStatusMaxImages: {
      type: integerSchema(-1),
      default: 50,
      allowsZeroValue: true,
      effect: "the maximum number of images in the node's status, largest first ({default}; -1: no limit)",
      unsupportedFlag: '--node-status-max-images',
    },
    nodeLeaseDurationSeconds: {
      type: integerSchema(),
      default: 40,
      effect: "the duration of the node's lease, which is renewed after a quarter of it ({default})",
    },
  });

const clientSettings = () =>
  declareSettings({
    configMapAndSecretChangeDetectionStrategy: {
      type: enumSchema('', 'Get', 'Cache', 'Watch'),
      default: 'Watch',
      effect: 'how changes of the ConfigMaps and Secrets of pods are detected: `Watch`, `Cache` or `Get` ({default})',
    },
    syncFrequency: {
      type: durationSchema(),
      default: '1m',
      effect: 'the interval at which objects in volumes are refreshed if they are not watched ({default})',
      unsupportedFlag: '--sync-frequency',
    },
    kubeAPIQPS: {
      type: integerSchema(),
      default: 50,
      allowsZeroValue: true,
      effect: 'the maximum rate of requests to the API server, per second ({default})',
      unsupportedFlag: '--kube-api-qps',
    },
    kubeAPIBurst: {
      type: integerSchema(),
      default: 100,
      effect: 'the maximum burst of these requests ({default})',
      unsupportedFlag: '--kube-api-burst',
    },
    eventRecordQPS: {
      type: integerSchema(),
      default: 50,
      allowsZeroValue: true,
      effect: 'the maximum rate of requests for events, per second ({default})',
      unsupportedFlag: '--event-qps',
    },
    eventBurst: {
      type: integerSchema(),
      default: 100,
      effect: 'the maximum burst of these requests ({default})',
      unsupportedFlag: '--event-burst',
    },
    contentType: {
      type: stringSchema,
      default: 'application/vnd.kubernetes.protobuf',
      ignoredReason: 'the client of the API server uses JSON',
      unsupportedFlag: '--kube-api-content-type',
    },
  });

export const clusterSettings = () => ({
  ...membershipSettings(),
  ...registrationSettings(),
  ...reportingSettings(),
  ...clientSettings(),
});
