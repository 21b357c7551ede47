/** Defines pairs of pods that differ in one field, for every field that takes effect. */
import type { Taint } from '../../../kubernetes/admission/node.ts';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import type { Projection } from '../../../kubernetes/environment/projection.ts';
import { containerWith, IMAGE } from '../../fakes/pods.ts';
import { HIGH_PRIORITY, WRITER } from './podTrace.ts';

/** The spec of a pod, and the path and new value of the field that changes in it. */
export interface FieldChange {
  /** The path with indexes and keys, e.g. `containers[0].resources.limits{cpu}`. */
  readonly path: string;
  readonly spec: Partial<PodSpec>;
  /** Undefined if the field is removed. */
  readonly value: unknown;
  /** Resources that the container `main` of both pods requests in an update. */
  readonly resize?: NonNullable<Container['resources']>;
  /** The taints of the node. */
  readonly taints?: readonly Taint[];
  /** Whether the pods come from the API server of a cluster. */
  readonly fromCluster?: true;
  /** Whether the host shuts down. */
  readonly shutsDown?: true;
  /** The field of a different list item that gets the previous value, for a field whose values must be unique. */
  readonly swappedWith?: string;
}

const main = (more: Partial<Container>, spec: Partial<PodSpec> = {}): Partial<PodSpec> => ({
  containers: [containerWith('main', more)],
  ...spec,
});

const changesOf = (spec: Partial<PodSpec>, values: Readonly<Record<string, unknown>>): FieldChange[] =>
  Object.entries(values).map(([path, value]) => ({ path, spec, value }));

const items = [
  { key: 'a', path: 'one', mode: 0o400 },
  { key: 'b', path: 'two' },
];
const fieldItems = [
  { path: 'name', mode: 0o400, fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } },
  { path: 'memory', resourceFieldRef: { containerName: 'main', resource: 'limits.memory', divisor: '1' } },
];

/** A pod with files from every source. */
const files: Partial<PodSpec> = {
  serviceAccountName: 'first',
  volumes: [
    { name: 'host', hostPath: { path: '/first', type: '' } },
    { name: 'empty', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
    { name: 'secret', secret: { secretName: 'first', items, defaultMode: 0o644 } },
    { name: 'config', configMap: { name: 'first', items, defaultMode: 0o644 } },
    { name: 'info', downwardAPI: { items: fieldItems, defaultMode: 0o644 } },
    {
      name: 'all',
      projected: {
        defaultMode: 0o644,
        sources: [
          { secret: { name: 'first', items: items.map((item) => ({ ...item, path: `secret/${item.path}` })) } },
          { configMap: { name: 'first', items: items.map((item) => ({ ...item, path: `config/${item.path}` })) } },
          { downwardAPI: { items: fieldItems } },
          { serviceAccountToken: { audience: 'first', expirationSeconds: 3_600, path: 'token' } },
        ],
      },
    },
    { name: 'image', image: { reference: IMAGE, pullPolicy: 'IfNotPresent' } },
  ],
  containers: [
    containerWith('main', {
      resources: { limits: { cpu: '500m', memory: '64Mi' }, requests: { memory: '32Mi' } },
      volumeMounts: ['host', 'empty', 'secret', 'config', 'info', 'all', 'image'].map((name) => ({
        name,
        mountPath: `/${name}`,
        readOnly: true,
        recursiveReadOnly: 'Disabled' as const,
        mountPropagation: 'None' as const,
      })),
    }),
    containerWith('side', { resources: { limits: { cpu: '250m', memory: '32Mi' } } }),
  ],
};

/** Returns the change of the field `optional` in a volume that refers to an object that does not exist. */
const withoutObjects = (source: object, optional: string): FieldChange => ({
  path: `volumes[0].${optional}`,
  spec: {
    ...main({ volumeMounts: [{ name: 'files', mountPath: '/files' }] }),
    // `source` is a volume source.
    volumes: [{ name: 'files', ...source }],
  },
  value: true,
});

const fieldRefValues = (path: string) => ({
  [`${path}[0].path`]: 'other',
  [`${path}[0].mode`]: 0o440,
  [`${path}[0].fieldRef.fieldPath`]: 'metadata.namespace',
  [`${path}[1].resourceFieldRef.containerName`]: 'side',
  [`${path}[1].resourceFieldRef.resource`]: 'requests.memory',
  [`${path}[1].resourceFieldRef.divisor`]: '1Ki',
});

const itemValues = (path: string) => ({
  [`${path}[0].key`]: 'b',
  [`${path}[0].path`]: 'other',
  [`${path}[0].mode`]: 0o440,
});

const fileChanges = [
  ...changesOf(files, {
    'volumes[0].hostPath.path': '/second',
    'volumes[0].hostPath.type': 'Socket',
    'volumes[1].emptyDir.medium': '',
    'volumes[1].emptyDir.sizeLimit': '2Mi',
    'volumes[2].secret.secretName': 'second',
    ...itemValues('volumes[2].secret.items'),
    'volumes[2].secret.defaultMode': 0o600,
    'volumes[3].configMap.name': 'second',
    ...itemValues('volumes[3].configMap.items'),
    'volumes[3].configMap.defaultMode': 0o600,
    ...fieldRefValues('volumes[4].downwardAPI.items'),
    'volumes[4].downwardAPI.defaultMode': 0o600,
    'volumes[5].projected.sources[0].secret.name': 'second',
    ...itemValues('volumes[5].projected.sources[0].secret.items'),
    'volumes[5].projected.sources[1].configMap.name': 'second',
    ...itemValues('volumes[5].projected.sources[1].configMap.items'),
    ...fieldRefValues('volumes[5].projected.sources[2].downwardAPI.items'),
    'volumes[5].projected.sources[3].serviceAccountToken.audience': 'second',
    'volumes[5].projected.sources[3].serviceAccountToken.expirationSeconds': 7_200,
    'volumes[5].projected.sources[3].serviceAccountToken.path': 'other',
    'volumes[5].projected.defaultMode': 0o600,
    'volumes[6].image.reference': 'statelet.local/other:1',
    'volumes[6].image.pullPolicy': 'Always',
    'containers[0].volumeMounts[1].name': 'host',
    'containers[0].volumeMounts[1].readOnly': false,
    'containers[0].volumeMounts[1].recursiveReadOnly': 'Enabled',
    'containers[0].volumeMounts[1].mountPath': '/other',
    'containers[0].volumeMounts[1].subPath': 'below',
    'containers[0].volumeMounts[1].mountPropagation': 'HostToContainer',
    'securityContext.fsGroup': 1_234,
    serviceAccountName: 'second',
  }),
  {
    path: 'volumes[0].name',
    spec: main({}, { volumes: [{ name: 'first', emptyDir: {} }] }),
    value: 'second',
  },
  ...changesOf(
    { ...files, securityContext: { fsGroup: 1_234, fsGroupChangePolicy: 'Always' } },
    { 'securityContext.fsGroupChangePolicy': 'OnRootMismatch' },
  ),
  withoutObjects({ secret: { secretName: 'missing', optional: false } }, 'secret.optional'),
  withoutObjects({ configMap: { name: 'missing', optional: false } }, 'configMap.optional'),
  withoutObjects(
    { projected: { sources: [{ secret: { name: 'missing', optional: false } }] } },
    'projected.sources[0].secret.optional',
  ),
  withoutObjects(
    { projected: { sources: [{ configMap: { name: 'missing', optional: false } }] } },
    'projected.sources[0].configMap.optional',
  ),
];

const environment = main({
  env: [
    { name: 'FIRST', value: 'one' },
    { name: 'FIELD', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
    {
      name: 'CPU',
      valueFrom: { resourceFieldRef: { containerName: 'main', resource: 'limits.memory', divisor: '1' } },
    },
    { name: 'CONFIG', valueFrom: { configMapKeyRef: { name: 'first', key: 'a' } } },
    { name: 'SECRET', valueFrom: { secretKeyRef: { name: 'first', key: 'a' } } },
    { name: 'NONE', valueFrom: { configMapKeyRef: { name: 'first', key: 'missing', optional: true } } },
    { name: 'NOTHING', valueFrom: { secretKeyRef: { name: 'first', key: 'missing', optional: true } } },
  ],
  envFrom: [
    { prefix: 'P_', configMapRef: { name: 'first' } },
    { prefix: 'S_', secretRef: { name: 'first' } },
    { configMapRef: { name: 'missing', optional: true } },
    { secretRef: { name: 'missing', optional: true } },
  ],
  resources: { limits: { memory: '64Mi' }, requests: { memory: '32Mi' } },
});

const environmentChanges = changesOf(
  { ...environment, containers: [...(environment.containers ?? []), containerWith('side')] },
  {
    'containers[0].env[0].name': 'OTHER',
    'containers[0].env[0].value': 'two',
    'containers[0].env[1].valueFrom.fieldRef.fieldPath': 'metadata.namespace',
    'containers[0].env[2].valueFrom.resourceFieldRef.containerName': 'side',
    'containers[0].env[2].valueFrom.resourceFieldRef.resource': 'requests.memory',
    'containers[0].env[2].valueFrom.resourceFieldRef.divisor': '1Ki',
    'containers[0].env[3].valueFrom.configMapKeyRef.name': 'second',
    'containers[0].env[3].valueFrom.configMapKeyRef.key': 'b',
    'containers[0].env[5].valueFrom.configMapKeyRef.optional': false,
    'containers[0].env[4].valueFrom.secretKeyRef.name': 'second',
    'containers[0].env[4].valueFrom.secretKeyRef.key': 'b',
    'containers[0].env[6].valueFrom.secretKeyRef.optional': false,
    'containers[0].envFrom[0].prefix': 'Q_',
    'containers[0].envFrom[0].configMapRef.name': 'second',
    'containers[0].envFrom[2].configMapRef.optional': false,
    'containers[0].envFrom[1].secretRef.name': 'second',
    'containers[0].envFrom[3].secretRef.optional': false,
  },
);

const probed = (handler: object): Partial<PodSpec> =>
  main({
    livenessProbe: {
      initialDelaySeconds: 1,
      periodSeconds: 5,
      timeoutSeconds: 1,
      successThreshold: 1,
      failureThreshold: 3,
      ...handler,
    },
    readinessProbe: { periodSeconds: 5, successThreshold: 1, exec: { command: ['true'] } },
  });
const httpGet = {
  path: '/first',
  port: 80,
  host: '192.0.2.7',
  scheme: 'HTTP' as const,
  httpHeaders: [{ name: 'First', value: 'one' }],
};
const httpValues = (path: string) => ({
  [`${path}.path`]: '/second',
  [`${path}.port`]: 81,
  [`${path}.host`]: '192.0.2.8',
  [`${path}.scheme`]: 'HTTPS',
  [`${path}.httpHeaders[0].name`]: 'Second',
  [`${path}.httpHeaders[0].value`]: 'two',
});
const LIVENESS = 'containers[0].livenessProbe';

const probeChanges = [
  ...changesOf(probed({ exec: { command: ['false'] } }), {
    [`${LIVENESS}.exec.command[0]`]: 'true',
    [`${LIVENESS}.initialDelaySeconds`]: 9,
    [`${LIVENESS}.periodSeconds`]: 7,
    [`${LIVENESS}.timeoutSeconds`]: 2,
    [`${LIVENESS}.failureThreshold`]: 1,
    [`${LIVENESS}.terminationGracePeriodSeconds`]: 3,
    'containers[0].readinessProbe.successThreshold': 4,
  }),
  ...changesOf(probed({ httpGet }), httpValues(`${LIVENESS}.httpGet`)),
  ...changesOf(probed({ tcpSocket: { port: 80, host: '192.0.2.7' } }), {
    [`${LIVENESS}.tcpSocket.port`]: 81,
    [`${LIVENESS}.tcpSocket.host`]: '192.0.2.8',
  }),
  ...changesOf(probed({ grpc: { port: 80, service: 'first' } }), {
    [`${LIVENESS}.grpc.port`]: 81,
    [`${LIVENESS}.grpc.service`]: 'second',
  }),
  ...changesOf(
    main({ lifecycle: { postStart: { httpGet } } }),
    httpValues('containers[0].lifecycle.postStart.httpGet'),
  ),
  ...changesOf(main({ lifecycle: { postStart: { exec: { command: ['true'] } } } }), {
    'containers[0].lifecycle.postStart.exec.command[0]': 'false',
  }),
  ...changesOf(main({ lifecycle: { postStart: { sleep: { seconds: 1 } } } }), {
    'containers[0].lifecycle.postStart.sleep.seconds': 7,
  }),
];

const containerChanges = [
  ...changesOf(
    main({
      command: ['sh'],
      args: ['-c', 'exit 3'],
      imagePullPolicy: 'IfNotPresent',
      terminationMessagePath: '/first',
      terminationMessagePolicy: 'File',
      ports: [{ name: 'web', containerPort: 80, hostPort: 8_080, hostIP: '192.0.2.7', protocol: 'TCP' }],
      resources: { limits: { cpu: '500m', memory: '64Mi' }, requests: { cpu: '250m', memory: '32Mi' } },
    }),
    {
      'containers[0].name': 'other',
      'containers[0].image': 'statelet.local/other:1',
      'containers[0].imagePullPolicy': 'Always',
      'containers[0].command[0]': 'bash',
      'containers[0].args[1]': 'exit 4',
      'containers[0].workingDir': '/second',
      'containers[0].stdin': true,
      'containers[0].tty': true,
      'containers[0].terminationMessagePath': '/second',
      'containers[0].terminationMessagePolicy': 'FallbackToLogsOnError',
      'containers[0].ports[0].containerPort': 81,
      'containers[0].ports[0].hostPort': 8_081,
      'containers[0].ports[0].hostIP': '192.0.2.8',
      'containers[0].ports[0].protocol': 'UDP',
      'containers[0].resources.limits{memory}': '96Mi',
      'containers[0].resources.requests{cpu}': '300m',
      'containers[0].restartPolicy': 'Never',
      restartPolicy: 'Never',
      activeDeadlineSeconds: 20,
    },
  ),
  ...changesOf(main({ stdin: true, stdinOnce: false }), { 'containers[0].stdinOnce': true }),
  ...changesOf(main({ lifecycle: { stopSignal: 'SIGTERM' } }, { os: { name: 'linux' } }), {
    'containers[0].lifecycle.stopSignal': 'SIGUSR1',
  }),
  ...changesOf(
    main(
      {
        command: ['sh', '-c', 'exit 3'],
        restartPolicy: 'Always',
        restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [4] } }],
      },
      { restartPolicy: 'Never' },
    ),
    {
      'containers[0].restartPolicy': 'Never',
    },
  ),
  ...changesOf(
    main(
      {
        command: ['sh', '-c', 'sleep 4'],
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [0] } }],
      },
      { restartPolicy: 'Never' },
    ),
    {
      'containers[0].restartPolicyRules[0].action': 'RestartAllContainers',
      'containers[0].restartPolicyRules[0].exitCodes.operator': 'NotIn',
      'containers[0].restartPolicyRules[0].exitCodes.values[0]': 4,
    },
  ),
  ...changesOf(
    main(
      {
        env: [{ name: 'BELOW', value: 'first' }],
        volumeMounts: [{ name: 'data', mountPath: '/data', subPathExpr: '$(BELOW)' }],
      },
      { volumes: [{ name: 'data', emptyDir: {} }] },
    ),
    { 'containers[0].volumeMounts[0].subPathExpr': 'second' },
  ),
  ...changesOf(main(probedByName()), { 'containers[0].ports[0].name': 'other' }),
];

/** A container with a probe that refers to its port by name. */
function probedByName(): Partial<Container> {
  return {
    ports: [
      { name: 'web', containerPort: 80 },
      { name: 'admin', containerPort: 81 },
    ],
    livenessProbe: { tcpSocket: { port: 'web' } },
  };
}

const PROFILES = {
  seccompProfile: { type: 'RuntimeDefault' as const },
  appArmorProfile: { type: 'RuntimeDefault' as const },
};
const NAMED_PROFILE = { appArmorProfile: { type: 'Localhost' as const, localhostProfile: 'first' } };

const profileChanges = [
  ...changesOf(main({ securityContext: PROFILES }), {
    'containers[0].securityContext.seccompProfile.type': 'Unconfined',
    'containers[0].securityContext.appArmorProfile.type': 'Unconfined',
  }),
  ...changesOf(main({}, { securityContext: PROFILES }), {
    'securityContext.seccompProfile.type': 'Unconfined',
    'securityContext.appArmorProfile.type': 'Unconfined',
  }),
  ...changesOf(main({ securityContext: NAMED_PROFILE }), {
    'containers[0].securityContext.appArmorProfile.localhostProfile': 'second',
  }),
  ...changesOf(main({}, { securityContext: NAMED_PROFILE }), {
    'securityContext.appArmorProfile.localhostProfile': 'second',
  }),
];

const securityChanges = [
  ...profileChanges,
  ...changesOf(
    main({
      securityContext: {
        capabilities: { add: ['NET_ADMIN'], drop: ['MKNOD'] },
        runAsUser: 1,
        runAsGroup: 2,
        readOnlyRootFilesystem: false,
        allowPrivilegeEscalation: true,
        seLinuxOptions: { level: 's0:c1' },
        seccompProfile: { type: 'Localhost', localhostProfile: 'first' },
      },
    }),
    {
      'containers[0].securityContext.capabilities.add[0]': 'SYS_TIME',
      'containers[0].securityContext.capabilities.drop[0]': 'CHOWN',
      'containers[0].securityContext.privileged': true,
      'containers[0].securityContext.seLinuxOptions': { level: 's0:c2' },
      'containers[0].securityContext.runAsUser': 3,
      'containers[0].securityContext.runAsGroup': 4,
      'containers[0].securityContext.readOnlyRootFilesystem': true,
      'containers[0].securityContext.allowPrivilegeEscalation': false,
      'containers[0].securityContext.seccompProfile.localhostProfile': 'second',
    },
  ),
  ...changesOf(main({}, { hostUsers: false }), { 'containers[0].securityContext.procMount': 'Unmasked' }),
  ...changesOf(main({ securityContext: { runAsUser: 0 } }), { 'containers[0].securityContext.runAsNonRoot': true }),
  ...changesOf(main({}, { securityContext: { runAsUser: 0 } }), { 'securityContext.runAsNonRoot': true }),
  ...changesOf(
    main(
      {},
      {
        securityContext: {
          runAsUser: 1,
          runAsGroup: 2,
          seLinuxOptions: { level: 's0:c1' },
          supplementalGroups: [5],
          supplementalGroupsPolicy: 'Merge',
          sysctls: [{ name: 'net.ipv4.ip_local_port_range', value: '1024 65535' }],
          seccompProfile: { type: 'Localhost', localhostProfile: 'first' },
        },
      },
    ),
    {
      'securityContext.runAsUser': 3,
      'securityContext.runAsGroup': 4,
      'securityContext.seLinuxOptions': { level: 's0:c2' },
      'securityContext.supplementalGroups[0]': 6,
      'securityContext.supplementalGroupsPolicy': 'Strict',
      'securityContext.sysctls[0].name': 'net.ipv4.ip_unprivileged_port_start',
      'securityContext.sysctls[0].value': '2048 65535',
      'securityContext.seccompProfile.localhostProfile': 'second',
    },
  ),
];

const limits = (memory: string) => ({ limits: { memory, cpu: '1' }, requests: { memory, cpu: '1' } });

const resizeChanges = changesOf(
  main({ resources: limits('64Mi'), resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] }),
  {
    'containers[0].resizePolicy[0].resourceName': 'cpu',
    'containers[0].resizePolicy[0].restartPolicy': 'NotRequired',
  },
).map((change) => ({ ...change, resize: limits('96Mi') }));

const TAINTS: readonly Taint[] = [{ key: 'taint', value: 'first', effect: 'NoExecute' }];

const tolerationChanges = [
  ...changesOf(main({}, { tolerations: [{ key: 'taint', operator: 'Equal', value: 'first', effect: 'NoExecute' }] }), {
    'tolerations[0].key': 'other',
    'tolerations[0].value': 'second',
    'tolerations[0].effect': 'NoSchedule',
  }),
  ...changesOf(main({}, { tolerations: [{ key: 'taint', effect: 'NoExecute' }] }), {
    'tolerations[0].operator': 'Exists',
  }),
].map((change) => ({ ...change, taints: TAINTS }));

const podChanges = [
  ...resizeChanges,
  ...changesOf(
    main(
      {},
      {
        dnsPolicy: 'None',
        dnsConfig: { nameservers: ['192.0.2.53'], searches: ['first.test'], options: [{ name: 'ndots', value: '1' }] },
        hostAliases: [{ ip: '192.0.2.9', hostnames: ['first.test'] }],
        hostname: 'first',
        subdomain: 'group',
        setHostnameAsFQDN: false,
        resources: { limits: { cpu: '1', memory: '64Mi' }, requests: { cpu: '500m', memory: '32Mi' } },
        nodeName: 'node-1',
        overhead: { cpu: '100m' },
        os: { name: 'linux' },
        enableServiceLinks: true,
      },
    ),
    {
      dnsPolicy: 'ClusterFirst',
      'dnsConfig.nameservers[0]': '192.0.2.54',
      'dnsConfig.searches[0]': 'second.test',
      'dnsConfig.options[0].name': 'timeout',
      'dnsConfig.options[0].value': '2',
      'hostAliases[0].ip': '192.0.2.10',
      'hostAliases[0].hostnames[0]': 'second.test',
      hostname: 'second',
      subdomain: 'other',
      setHostnameAsFQDN: true,
      'resources.limits{memory}': '96Mi',
      'resources.requests{cpu}': '600m',
      'overhead{cpu}': '200m',
      nodeName: 'node-2',
      'nodeSelector{zone}': 'a',
      hostNetwork: true,
      hostPID: true,
      hostIPC: true,
      shareProcessNamespace: true,
      hostUsers: false,
      'readinessGates[0].conditionType': 'example.com/ready',
      terminationGracePeriodSeconds: 7,
      'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution': {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'Exists' }] }],
      },
      runtimeClassName: 'sandboxed',
    },
  ),
  ...changesOf(main({}), {
    hostnameOverride: 'other',
    'os.name': 'windows',
    priorityClassName: 'system-node-critical',
  }),
  ...changesOf(main({ image: 'statelet.local/other:1' }, { imagePullSecrets: [{ name: 'first' }] }), {
    'imagePullSecrets[0].name': 'second',
  }),
  ...tolerationChanges,
  ...changesOf(
    {
      containers: [containerWith('main'), containerWith('side')],
      ephemeralContainers: [{ ...containerWith('debug'), targetContainerName: 'main' }],
    },
    { 'ephemeralContainers[0].targetContainerName': 'side' },
  ),
  ...changesOf(
    main(
      {
        env: [
          { name: 'KEY', valueFrom: { fileKeyRef: { volumeName: 'data', path: 'first', key: 'A', optional: true } } },
        ],
      },
      { volumes: [{ name: 'data', emptyDir: {} }] },
    ),
    { 'containers[0].env[0].valueFrom.fileKeyRef.optional': false },
  ),
  ...changesOf(
    main(
      { env: [{ name: 'KEY', valueFrom: { fileKeyRef: { volumeName: 'data', path: 'first', key: 'A' } } }] },
      {
        volumes: ['data', 'other'].map((name) => ({ name, emptyDir: {} })),
        initContainers: [
          containerWith(WRITER, {
            command: ['true'],
            volumeMounts: ['data', 'other'].map((name) => ({ name, mountPath: `/${name}` })),
          }),
        ],
      },
    ),
    {
      'containers[0].env[0].valueFrom.fileKeyRef.volumeName': 'other',
      'containers[0].env[0].valueFrom.fileKeyRef.path': 'second',
      'containers[0].env[0].valueFrom.fileKeyRef.key': 'B',
    },
  ),
  ...changesOf(main({}, { priority: 0 }), { priority: HIGH_PRIORITY }).map((change) => ({
    ...change,
    shutsDown: true as const,
  })),
];

const trusting = (clusterTrustBundle: NonNullable<Projection['clusterTrustBundle']>): Partial<PodSpec> =>
  main(
    { volumeMounts: [{ name: 'trust', mountPath: '/trust' }] },
    { volumes: [{ name: 'trust', projected: { sources: [{ clusterTrustBundle }] } }] },
  );
const TRUST_BUNDLE = 'volumes[0].projected.sources[0].clusterTrustBundle';

/** Two claims of which the container uses one. */
const claiming = (claims: NonNullable<PodSpec['resourceClaims']>): Partial<PodSpec> =>
  main({ resources: { claims: [{ name: 'one', request: 'first' }] } }, { resourceClaims: claims });
const existingClaims = claiming([
  { name: 'one', resourceClaimName: 'first' },
  { name: 'two', resourceClaimName: 'second' },
]);

const clusterChanges = [
  ...changesOf(main({}, { enableServiceLinks: true }), { enableServiceLinks: false }),
  ...changesOf(trusting({ name: 'first', path: 'ca.pem' }), {
    [`${TRUST_BUNDLE}.name`]: 'second',
    [`${TRUST_BUNDLE}.path`]: 'other.pem',
  }),
  ...changesOf(
    trusting({ signerName: 'first.test/ca', labelSelector: { matchLabels: { live: 'yes' } }, path: 'ca.pem' }),
    {
      [`${TRUST_BUNDLE}.signerName`]: 'second.test/ca',
      [`${TRUST_BUNDLE}.labelSelector.matchLabels.live`]: 'no',
    },
  ),
  ...changesOf(trusting({ name: 'missing', path: 'ca.pem', optional: false }), { [`${TRUST_BUNDLE}.optional`]: true }),
  ...changesOf(existingClaims, {
    'containers[0].resources.claims[0].name': 'two',
    'containers[0].resources.claims[0].request': 'second',
    'resourceClaims[0].resourceClaimName': 'third',
  }),
  ...changesOf(existingClaims, { 'resourceClaims[0].name': 'two' }).map((change) => ({
    ...change,
    swappedWith: 'resourceClaims[1].name',
  })),
  ...changesOf(claiming([{ name: 'one', resourceClaimTemplateName: 'first' }]), {
    'resourceClaims[0].resourceClaimTemplateName': 'second',
  }),
].map((change) => ({ ...change, fromCluster: true as const }));

export const fieldChanges: readonly FieldChange[] = [
  ...fileChanges,
  ...environmentChanges,
  ...probeChanges,
  ...containerChanges,
  ...securityChanges,
  ...podChanges,
  ...clusterChanges,
];

/** Fields with a single valid value. A pod with a different value is rejected. */
export const singleValueChanges: readonly FieldChange[] = [
  ...changesOf(files, {
    'volumes[4].downwardAPI.items[0].fieldRef.apiVersion': 'v2',
    'volumes[5].projected.sources[2].downwardAPI.items[0].fieldRef.apiVersion': 'v2',
    'securityContext.seLinuxChangePolicy': 'MountOption',
  }),
  ...changesOf(environment, { 'containers[0].env[1].valueFrom.fieldRef.apiVersion': 'v2' }),
];
