import { taintSchema, taintsFlag } from '../admissionFields.ts';
import {
  booleanSchema,
  directory,
  durationSchema,
  enumSchema,
  integerSchema,
  listSchema,
  matchingStringSchema,
  path,
  stringSchema,
} from '../fields.ts';
import { declareSettings } from './setting.ts';

/** Whether a cloud controller sets the node's addresses. */
export const isExternalProvider = (provider: string | undefined): boolean => provider === 'external';

const cloudProvider = matchingStringSchema(
  '"external" or nothing, as the cloud providers inside of Kubernetes are gone',
  (provider) => provider === '' || isExternalProvider(provider),
);

/** Settings of the cluster that the node joins, and of the node's credentials for it. */
const membershipSettings = () =>
  declareSettings({
    '--kubeconfig': {
      type: path,
      flag: { argument: '<file>', help: 'kubeconfig of the cluster that the node belongs to (default: {default})' },
    },
    '--bootstrap-kubeconfig': {
      type: path,
      flag: {
        argument: '<file>',
        help: 'kubeconfig to ask for a client certificate by, where that of the node has none that is good (default: {default})',
      },
    },
    '--cert-dir': {
      type: directory,
      flag: {
        argument: '<directory>',
        help: 'directory of the certificates that the node keeps (default: pki in --root-dir)',
      },
    },
    rotateCertificates: {
      type: booleanSchema,
      default: false,
      effect: 'whether the client certificate is renewed at 70 to 90 % of its life',
      flag: {
        name: '--rotate-certificates',
        argument: '[boolean]',
        help: 'renew the client certificate (default: {default})',
      },
    },
    serverTLSBootstrap: {
      type: booleanSchema,
      default: false,
      effect: 'whether the API server is asked for the serving certificate',
      flag: {
        name: '--rotate-server-certificates',
        argument: '[boolean]',
        help: 'ask the API server for a serving certificate, and renew it (default: {default})',
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
      effect: 'whether the node makes its Node object ({default})',
      flag: {
        name: '--register-node',
        argument: '[boolean]',
        help: 'make the Node object; false: somebody else does (default: {default})',
      },
    },
    registerWithTaints: {
      type: listSchema(taintSchema),
      effect: 'pods that are not static and do not tolerate a NoExecute taint are refused',
      flag: {
        name: '--register-with-taints',
        argument: '<taints>',
        type: taintsFlag,
        help: 'taints to register the node with, as key=value:NoSchedule',
      },
    },
    providerID: {
      type: stringSchema,
      default: '',
      effect: 'the `providerID` of the Node object',
      flag: { name: '--provider-id', argument: '<id>', help: 'the ID by which a cloud knows the node' },
    },
    '--cloud-provider': {
      type: cloudProvider,
      flag: {
        argument: '<name>',
        help: 'external: a controller of a cloud tells the addresses of the node (default: {default})',
      },
    },
    enableControllerAttachDetach: {
      type: booleanSchema,
      default: true,
      allowsZeroValue: true,
      effect:
        'whether the Node has the annotation by which the controller of the cluster attaches volumes to it ({default})',
      unsupportedFlag: '--enable-controller-attach-detach',
    },
  });

/** Settings for reporting the node's status to its cluster. */
const reportingSettings = () =>
  declareSettings({
    nodeStatusUpdateFrequency: {
      type: durationSchema(),
      default: '10s',
      effect: 'how often it is looked whether the status of the Node has changed ({default})',
      unsupportedFlag: '--node-status-update-frequency',
    },
    nodeStatusReportFrequency: {
      type: durationSchema(),
      default: '5m',
      defaultFrom: 'nodeStatusUpdateFrequency',
      effect: 'how often that status is written in any case ({default})',
    },
    nodeStatusMaxImages: {
      type: integerSchema(-1),
      default: 50,
      allowsZeroValue: true,
      effect: 'how many images that status lists, the largest first ({default}; -1: all)',
      unsupportedFlag: '--node-status-max-images',
    },
    nodeLeaseDurationSeconds: {
      type: integerSchema(),
      default: 40,
      effect: "how long the node's lease lasts; it is renewed four times while it does ({default})",
    },
  });

/** Settings of the API client. */
const client = () =>
  declareSettings({
    configMapAndSecretChangeDetectionStrategy: {
      type: enumSchema('', 'Get', 'Cache', 'Watch'),
      default: 'Watch',
      effect: 'how ConfigMaps and Secrets that pods name are followed: `Watch`, `Cache` or `Get` ({default})',
    },
    syncFrequency: {
      type: durationSchema(),
      default: '1m',
      effect: 'how often what is not watched is read again, once a volume shows it ({default})',
      unsupportedFlag: '--sync-frequency',
    },
    kubeAPIQPS: {
      type: integerSchema(),
      default: 50,
      allowsZeroValue: true,
      effect: 'how many requests in a second the API server gets ({default})',
      unsupportedFlag: '--kube-api-qps',
    },
    kubeAPIBurst: {
      type: integerSchema(),
      default: 100,
      effect: 'how many of them may come at once ({default})',
      unsupportedFlag: '--kube-api-burst',
    },
    eventRecordQPS: {
      type: integerSchema(),
      default: 50,
      allowsZeroValue: true,
      effect: 'how many requests in a second events make to it ({default})',
      unsupportedFlag: '--event-qps',
    },
    eventBurst: {
      type: integerSchema(),
      default: 100,
      effect: 'how many of them may come at once ({default})',
      unsupportedFlag: '--event-burst',
    },
    contentType: {
      type: stringSchema,
      default: 'application/vnd.kubernetes.protobuf',
      ignored: 'the client of the API server uses JSON',
      unsupportedFlag: '--kube-api-content-type',
    },
  });

export const clusterSettings = () => ({
  ...membershipSettings(),
  ...registrationSettings(),
  ...reportingSettings(),
  ...client(),
});
