/** Lists how the node treats each field of a pod's spec. docs/pod-fields.md is generated from this list. */

type Treatment = 'takes effect' | 'rejected' | 'holds the pod back';

export interface FieldTreatment {
  readonly treatment: Treatment;
  /** Source file that reads the field, or the cluster component that acts on it before the node receives the pod. */
  readonly owner: string;
  /** Effect of the field. For a field that prevents the pod from running, the reason that users see. */
  readonly text: string;
  /** Whether the treatment applies to all fields below the path, because it is the same for each of them. */
  readonly coversDescendants?: true;
}

const SCHEDULER = 'scheduler';
export const API_SERVER = 'API server';
const TAINT_EVICTION = 'taint eviction controller';

/** Values of `owner` that name cluster components instead of source files. */
export const CLUSTER_COMPONENTS: ReadonlySet<string> = new Set([SCHEDULER, API_SERVER, TAINT_EVICTION]);

const takesEffect = (owner: string, text: string): FieldTreatment => ({
  treatment: 'takes effect',
  owner: owner,
  text,
});
const takesFullEffect = (owner: string, text: string): FieldTreatment => ({
  ...takesEffect(owner, text),
  coversDescendants: true,
});
const rejectedField = (owner: string, text: string): FieldTreatment => ({
  treatment: 'rejected',
  owner: owner,
  text,
  coversDescendants: true,
});
const blockingField = (owner: string, text: string): FieldTreatment => ({
  treatment: 'holds the pod back',
  owner: owner,
  text,
  coversDescendants: true,
});

const DEFAULTS_MODE = 'mode of files without their own';
const PROJECTION = 'kubernetes/environment/projection.ts';
const FIELD_REF = 'kubernetes/environment/fieldRef.ts';
const MOUNTS_FILE = 'cri/config/mounts.ts';
const CONTAINER_FILE = 'cri/config/containerConfig.ts';
const SECURITY_FILE = 'cri/config/securityContext.ts';
const PROFILES_FILE = 'cri/config/securityProfiles.ts';
const PROBES_FILE = 'actors/services/probes/probeServices.ts';
const HTTP_GET = 'actors/services/http/httpGet.ts';
const HOOKS_FILE = 'actors/services/containers/hookService.ts';
const PROBE_TIMES = 'machines/probe/context.ts';
const EPHEMERAL_REASON = 'not allowed for ephemeral containers';
const UNKNOWN_VOLUME = 'FailedMount: volumes of this type are not supported on this node';
const WINDOWS_REASON = 'PodOSNotSupported: Windows options on a Linux node';

/** Volume types for which the node has no plugin. */
const UNSUPPORTED_VOLUMES = [
  'gitRepo',
  'persistentVolumeClaim',
  'ephemeral',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'nfs',
  'iscsi',
  'glusterfs',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'fc',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'photonPersistentDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
  'csi',
] as const;

/** Returns the treatments of the fields of a ConfigMap or Secret volume source at a path. */
const objectItemFields = (path: string): [string, FieldTreatment][] => [
  [`${path}.items[].key`, takesEffect(PROJECTION, 'key of the object')],
  [`${path}.items[].path`, takesEffect(PROJECTION, 'file that shows the key')],
  [`${path}.items[].mode`, takesEffect(PROJECTION, 'mode of the file')],
  [`${path}.optional`, takesEffect(PROJECTION, 'whether the pod may run without the object')],
];

const downwardApiItemFields = (path: string): [string, FieldTreatment][] => [
  [`${path}.items[].path`, takesEffect(PROJECTION, 'file that shows the value')],
  [`${path}.items[].mode`, takesEffect(PROJECTION, 'mode of the file')],
  ...fieldRefFields(`${path}.items[]`, PROJECTION),
];

const fieldRefFields = (path: string, owner: string): [string, FieldTreatment][] => [
  [
    `${path}.fieldRef.apiVersion`,
    takesEffect('kubernetes/api/defaults/defaultVolumes.ts', '`v1`, the only version of the fields'),
  ],
  [`${path}.fieldRef.fieldPath`, takesEffect(owner, 'field of the pod')],
  [`${path}.resourceFieldRef.containerName`, takesEffect(FIELD_REF, 'container whose resource is shown')],
  [`${path}.resourceFieldRef.resource`, takesEffect(FIELD_REF, 'request or limit to show')],
  [`${path}.resourceFieldRef.divisor`, takesEffect(FIELD_REF, 'unit of the value')],
];

const volumeFields: [string, FieldTreatment][] = [
  [
    'volumes[].name',
    takesEffect('actors/services/disk/diskServices.ts', 'names the volume for mounts, and its directory'),
  ],
  ['volumes[].hostPath.path', takesEffect('volume/plugins/hostPath.ts', 'path on the node')],
  [
    'volumes[].hostPath.type',
    takesEffect('volume/plugins/hostPath.ts', 'checks or creates the path; FailedMount if it does not fit'),
  ],
  [
    'volumes[].emptyDir.medium',
    takesEffect('volume/plugins/emptyDir.ts', 'disk, tmpfs or huge pages; FailedMount for any other medium'),
  ],
  [
    'volumes[].emptyDir.sizeLimit',
    takesEffect('kubernetes/eviction/localStorage.ts', 'size of a tmpfs; on disk the pod is evicted if it uses more'),
  ],
  ['volumes[].secret.secretName', takesEffect(PROJECTION, 'the Secret')],
  ...objectItemFields('volumes[].secret'),
  ['volumes[].secret.defaultMode', takesEffect(PROJECTION, DEFAULTS_MODE)],
  ['volumes[].configMap.name', takesEffect(PROJECTION, 'the ConfigMap')],
  ...objectItemFields('volumes[].configMap'),
  ['volumes[].configMap.defaultMode', takesEffect(PROJECTION, DEFAULTS_MODE)],
  ...downwardApiItemFields('volumes[].downwardAPI'),
  ['volumes[].downwardAPI.defaultMode', takesEffect(PROJECTION, DEFAULTS_MODE)],
  ['volumes[].projected.sources[].secret.name', takesEffect(PROJECTION, 'the Secret')],
  ...objectItemFields('volumes[].projected.sources[].secret'),
  ['volumes[].projected.sources[].configMap.name', takesEffect(PROJECTION, 'the ConfigMap')],
  ...objectItemFields('volumes[].projected.sources[].configMap'),
  ...downwardApiItemFields('volumes[].projected.sources[].downwardAPI'),
  [
    'volumes[].projected.sources[].serviceAccountToken.audience',
    takesEffect('volume/plugins/payload.ts', 'audience of the token'),
  ],
  [
    'volumes[].projected.sources[].serviceAccountToken.expirationSeconds',
    takesEffect('volume/plugins/payload.ts', 'requested lifetime of the token'),
  ],
  [
    'volumes[].projected.sources[].serviceAccountToken.path',
    takesEffect('volume/plugins/payload.ts', 'file of the token'),
  ],
  [
    'volumes[].projected.sources[].clusterTrustBundle',
    takesFullEffect('volume/plugins/payload.ts', 'trust anchors, by name or by signer and labels'),
  ],
  [
    'volumes[].projected.sources[].podCertificate',
    blockingField(PROJECTION, 'FailedMount: this node requests no certificates for pods'),
  ],
  ['volumes[].projected.defaultMode', takesEffect(PROJECTION, DEFAULTS_MODE)],
  ['volumes[].image.reference', takesEffect('machines/volume/setup.ts', 'image to mount')],
  ['volumes[].image.pullPolicy', takesEffect('machines/volume/setup.ts', 'whether to pull it')],
  ...UNSUPPORTED_VOLUMES.map((kind): [string, FieldTreatment] => [
    `volumes[].${kind}`,
    blockingField('volume/plugins/plugin.ts', UNKNOWN_VOLUME),
  ]),
];

const httpGetFields = (path: string, owner: string): [string, FieldTreatment][] => [
  [`${path}.httpGet.path`, takesEffect(owner, 'path and query of the URL')],
  [`${path}.httpGet.port`, takesEffect(owner, 'port, or name of a port')],
  [`${path}.httpGet.host`, takesEffect(owner, 'host instead of the pod')],
  [`${path}.httpGet.scheme`, takesEffect(owner, 'HTTP or HTTPS')],
  [`${path}.httpGet.httpHeaders[].name`, takesEffect(owner, 'header of the request')],
  [`${path}.httpGet.httpHeaders[].value`, takesEffect(owner, 'its value')],
];

const probePath = 'containers[].livenessProbe';
const probeFields: [string, FieldTreatment][] = [
  [`${probePath}.exec.command[]`, takesEffect(PROBES_FILE, 'command to run in the container')],
  ...httpGetFields(probePath, HTTP_GET),
  [`${probePath}.tcpSocket.port`, takesEffect(PROBES_FILE, 'port to connect to')],
  [`${probePath}.tcpSocket.host`, takesEffect(PROBES_FILE, 'host instead of the pod')],
  [`${probePath}.grpc.port`, takesEffect('actors/services/probes/probeGrpc.ts', 'port of the health service')],
  [`${probePath}.grpc.service`, takesEffect('actors/services/probes/probeGrpc.ts', 'service to check')],
  [`${probePath}.initialDelaySeconds`, takesEffect(PROBE_TIMES, 'delay of the first attempt')],
  [`${probePath}.timeoutSeconds`, takesEffect(PROBES_FILE, 'limit of an attempt')],
  [`${probePath}.periodSeconds`, takesEffect(PROBE_TIMES, 'interval of the attempts')],
  [`${probePath}.successThreshold`, takesEffect(PROBE_TIMES, 'successes until it passes')],
  [`${probePath}.failureThreshold`, takesEffect(PROBE_TIMES, 'failures until it fails')],
  [
    `${probePath}.terminationGracePeriodSeconds`,
    takesEffect('machines/container/states/running.ts', 'grace period of a restart by the probe'),
  ],
];

const hookPath = 'containers[].lifecycle.postStart';
const lifecycleFields: [string, FieldTreatment][] = [
  [`${hookPath}.exec.command[]`, takesEffect(HOOKS_FILE, 'command to run in the container')],
  ...httpGetFields(hookPath, HTTP_GET),
  [
    `${hookPath}.tcpSocket`,
    blockingField(HOOKS_FILE, 'PostStartHookError, before a stop FailedPreStopHook: Kubernetes has no such hook'),
  ],
  [`${hookPath}.sleep.seconds`, takesEffect(HOOKS_FILE, 'duration of the pause')],
  [
    'containers[].lifecycle.stopSignal',
    takesEffect(CONTAINER_FILE, 'signal of the stop; CreateContainerError where the runtime has no such setting'),
  ],
];

const securityFields: [string, FieldTreatment][] = [
  [
    'containers[].securityContext.capabilities.add[]',
    takesEffect(SECURITY_FILE, 'capabilities beside the default ones'),
  ],
  ['containers[].securityContext.capabilities.drop[]', takesEffect(SECURITY_FILE, 'capabilities to drop')],
  ['containers[].securityContext.privileged', takesEffect(SECURITY_FILE, 'all privileges')],
  [
    'containers[].securityContext.seLinuxOptions',
    takesFullEffect(SECURITY_FILE, 'label of the processes and of its volumes'),
  ],
  ['containers[].securityContext.windowsOptions', rejectedField('kubernetes/admission/decide.ts', WINDOWS_REASON)],
  ['containers[].securityContext.runAsUser', takesEffect(SECURITY_FILE, 'user')],
  ['containers[].securityContext.runAsGroup', takesEffect(SECURITY_FILE, 'primary group')],
  [
    'containers[].securityContext.runAsNonRoot',
    takesEffect('cri/config/imageUser.ts', 'CreateContainerConfigError if the user is root'),
  ],
  ['containers[].securityContext.readOnlyRootFilesystem', takesEffect(SECURITY_FILE, 'read-only root file system')],
  ['containers[].securityContext.allowPrivilegeEscalation', takesEffect(SECURITY_FILE, 'no_new_privs if false')],
  ['containers[].securityContext.procMount', takesEffect(SECURITY_FILE, 'masked paths of /proc')],
  ['containers[].securityContext.seccompProfile.type', takesEffect(PROFILES_FILE, 'seccomp profile')],
  ['containers[].securityContext.seccompProfile.localhostProfile', takesEffect(PROFILES_FILE, 'its file')],
  [
    'containers[].securityContext.appArmorProfile.type',
    takesEffect(
      'kubernetes/api/appArmor.ts',
      'AppArmor profile; AppArmor as the reason of a rejection on a host without',
    ),
  ],
  ['containers[].securityContext.appArmorProfile.localhostProfile', takesEffect(PROFILES_FILE, 'its name')],
];

const containerFields: [string, FieldTreatment][] = [
  ['containers[].name', takesEffect(CONTAINER_FILE, 'names the container')],
  ['containers[].image', takesEffect('machines/container/states/pending.ts', 'image to run')],
  [
    'containers[].command[]',
    takesEffect('kubernetes/environment/environment.ts', 'entry point, with variables expanded'),
  ],
  ['containers[].args[]', takesEffect('kubernetes/environment/environment.ts', 'arguments, with variables expanded')],
  ['containers[].workingDir', takesEffect(CONTAINER_FILE, 'working directory')],
  [
    'containers[].ports[].name',
    takesEffect('kubernetes/api/pods/containers.ts', 'name of the port for probes and hooks'),
  ],
  [
    'containers[].ports[].hostPort',
    takesEffect('cri/config/sandboxConfig.ts', 'port of the node; NodePorts if it is taken'),
  ],
  [
    'containers[].ports[].containerPort',
    takesEffect('cri/config/sandboxConfig.ts', 'port that the host port leads to'),
  ],
  ['containers[].ports[].protocol', takesEffect('cri/config/sandboxConfig.ts', 'protocol of the host port')],
  ['containers[].ports[].hostIP', takesEffect('cri/config/sandboxConfig.ts', 'address of the host port')],
  ['containers[].envFrom[].prefix', takesEffect('kubernetes/environment/environment.ts', 'prefix of the variables')],
  ['containers[].envFrom[].configMapRef.name', takesEffect('kubernetes/environment/configValues.ts', 'the ConfigMap')],
  [
    'containers[].envFrom[].configMapRef.optional',
    takesEffect('kubernetes/environment/configValues.ts', 'whether it may be missing'),
  ],
  ['containers[].envFrom[].secretRef.name', takesEffect('kubernetes/environment/configValues.ts', 'the Secret')],
  [
    'containers[].envFrom[].secretRef.optional',
    takesEffect('kubernetes/environment/configValues.ts', 'whether it may be missing'),
  ],
  ['containers[].env[].name', takesEffect('kubernetes/environment/environment.ts', 'name of the variable')],
  [
    'containers[].env[].value',
    takesEffect('kubernetes/environment/environment.ts', 'its value, with variables expanded'),
  ],
  ...fieldRefFields('containers[].env[].valueFrom', 'cri/config/environment.ts'),
  [
    'containers[].env[].valueFrom.configMapKeyRef.name',
    takesEffect('kubernetes/environment/configValues.ts', 'the ConfigMap'),
  ],
  [
    'containers[].env[].valueFrom.configMapKeyRef.key',
    takesEffect('kubernetes/environment/configValues.ts', 'its key'),
  ],
  [
    'containers[].env[].valueFrom.configMapKeyRef.optional',
    takesEffect('kubernetes/environment/configValues.ts', 'whether it may be missing'),
  ],
  [
    'containers[].env[].valueFrom.secretKeyRef.name',
    takesEffect('kubernetes/environment/configValues.ts', 'the Secret'),
  ],
  ['containers[].env[].valueFrom.secretKeyRef.key', takesEffect('kubernetes/environment/configValues.ts', 'its key')],
  [
    'containers[].env[].valueFrom.secretKeyRef.optional',
    takesEffect('kubernetes/environment/configValues.ts', 'whether it may be missing'),
  ],
  [
    'containers[].env[].valueFrom.fileKeyRef.volumeName',
    takesEffect('cri/config/environment.ts', 'volume of the file'),
  ],
  ['containers[].env[].valueFrom.fileKeyRef.path', takesEffect('cri/config/environment.ts', 'file of variables')],
  [
    'containers[].env[].valueFrom.fileKeyRef.key',
    takesEffect('kubernetes/environment/environment.ts', 'variable of the file'),
  ],
  [
    'containers[].env[].valueFrom.fileKeyRef.optional',
    takesEffect('kubernetes/environment/environment.ts', 'whether it may be missing'),
  ],
  [
    'containers[].resources.limits{}',
    takesEffect(
      'kubernetes/resources/resources.ts',
      'limits of cpu, memory and huge pages; the pod is evicted if it uses more ephemeral storage',
    ),
  ],
  [
    'containers[].resources.requests{}',
    takesEffect(
      'kubernetes/resources/requests.ts',
      'admission (`OutOf…`, also of an extended resource that the node lacks), cgroup weight',
    ),
  ],
  [
    'containers[].resources.claims[].name',
    takesEffect('kubernetes/claims/containerDevices.ts', 'the container gets the devices of this claim'),
  ],
  [
    'containers[].resources.claims[].request',
    takesEffect('kubernetes/claims/containerDevices.ts', 'only the devices of this request'),
  ],
  ['containers[].resizePolicy[].resourceName', takesEffect('kubernetes/resources/resize.ts', 'resource of the policy')],
  [
    'containers[].resizePolicy[].restartPolicy',
    takesEffect('kubernetes/resources/resize.ts', 'whether a resize restarts the container'),
  ],
  [
    'containers[].restartPolicy',
    takesEffect('kubernetes/lifecycle/restart.ts', 'restart policy of the container; `Always` for a sidecar'),
  ],
  [
    'containers[].restartPolicyRules[].action',
    takesEffect('kubernetes/lifecycle/restart.ts', 'restarts the container or the pod'),
  ],
  [
    'containers[].restartPolicyRules[].exitCodes.operator',
    takesEffect('kubernetes/lifecycle/restart.ts', 'comparison of the exit code'),
  ],
  [
    'containers[].restartPolicyRules[].exitCodes.values[]',
    takesEffect('kubernetes/lifecycle/restart.ts', 'exit codes of the rule'),
  ],
  ['containers[].volumeMounts[].name', takesEffect(MOUNTS_FILE, 'volume to mount')],
  ['containers[].volumeMounts[].readOnly', takesEffect(MOUNTS_FILE, 'read-only mount')],
  [
    'containers[].volumeMounts[].recursiveReadOnly',
    takesEffect(MOUNTS_FILE, 'also for nested mounts; CreateContainerConfigError where the runtime cannot'),
  ],
  ['containers[].volumeMounts[].mountPath', takesEffect(MOUNTS_FILE, 'path in the container')],
  [
    'containers[].volumeMounts[].subPath',
    takesEffect(MOUNTS_FILE, 'part of the volume; of an image CreateContainerError where the runtime cannot'),
  ],
  ['containers[].volumeMounts[].mountPropagation', takesEffect(MOUNTS_FILE, 'propagation of later mounts')],
  ['containers[].volumeMounts[].subPathExpr', takesEffect(MOUNTS_FILE, 'part of the volume, with variables expanded')],
  [
    'containers[].volumeDevices[]',
    blockingField(
      'volume/plugins/plugin.ts',
      'FailedMount: block devices come only from volume types that are not supported',
    ),
  ],
  ...probeFields,
  ...lifecycleFields,
  ['containers[].terminationMessagePath', takesEffect(MOUNTS_FILE, 'file of the termination message')],
  ['containers[].terminationMessagePolicy', takesEffect(CONTAINER_FILE, 'whether the log stands in for the message')],
  ['containers[].imagePullPolicy', takesEffect('machines/container/states/pending.ts', 'whether to pull the image')],
  ...securityFields,
  ['containers[].stdin', takesEffect(CONTAINER_FILE, 'open standard input')],
  ['containers[].stdinOnce', takesEffect(CONTAINER_FILE, 'closes it after the first client')],
  ['containers[].tty', takesEffect(CONTAINER_FILE, 'terminal')],
];

const ephemeralContainerFields: [string, FieldTreatment][] = [
  ...['ports[]', 'resources', 'livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle', 'resizePolicy[]'].map(
    (field): [string, FieldTreatment] => [
      `ephemeralContainers[].${field}`,
      rejectedField(API_SERVER, EPHEMERAL_REASON),
    ],
  ),
  ...['restartPolicy', 'restartPolicyRules[]', 'volumeMounts[].subPath', 'volumeMounts[].subPathExpr'].map(
    (field): [string, FieldTreatment] => [
      `ephemeralContainers[].${field}`,
      rejectedField(API_SERVER, EPHEMERAL_REASON),
    ],
  ),
  [
    'ephemeralContainers[].targetContainerName',
    takesEffect('actors/services/containers/containers.ts', 'container whose process namespace it shares'),
  ],
];

const podSecurityFields: [string, FieldTreatment][] = [
  ['securityContext.seLinuxOptions', takesFullEffect(SECURITY_FILE, 'label of containers without their own')],
  ['securityContext.windowsOptions', rejectedField('kubernetes/admission/decide.ts', WINDOWS_REASON)],
  ['securityContext.runAsUser', takesEffect(SECURITY_FILE, 'user of containers without their own')],
  ['securityContext.runAsGroup', takesEffect(SECURITY_FILE, 'primary group of containers without their own')],
  [
    'securityContext.runAsNonRoot',
    takesEffect('cri/config/imageUser.ts', 'CreateContainerConfigError if a user is root'),
  ],
  ['securityContext.supplementalGroups[]', takesEffect(SECURITY_FILE, 'further groups')],
  [
    'securityContext.supplementalGroupsPolicy',
    takesEffect(
      'kubernetes/admission/decide.ts',
      'SupplementalGroupsPolicyNotSupported where the runtime has no `Strict`',
    ),
  ],
  ['securityContext.fsGroup', takesEffect('volume/plugins/emptyDir.ts', 'group that owns the volumes')],
  ['securityContext.fsGroupChangePolicy', takesEffect('volume/plugins/emptyDir.ts', 'whether a right root is enough')],
  [
    'securityContext.sysctls[].name',
    takesEffect('cri/config/sandboxConfig.ts', 'sysctl; SysctlForbidden if it is not allowed'),
  ],
  ['securityContext.sysctls[].value', takesEffect('cri/config/sandboxConfig.ts', 'its value')],
  ['securityContext.seccompProfile.type', takesEffect(PROFILES_FILE, 'profile of containers without their own')],
  ['securityContext.seccompProfile.localhostProfile', takesEffect(PROFILES_FILE, 'its file')],
  [
    'securityContext.appArmorProfile.type',
    takesEffect('kubernetes/api/appArmor.ts', 'profile of containers without their own'),
  ],
  ['securityContext.appArmorProfile.localhostProfile', takesEffect(PROFILES_FILE, 'its name')],
  [
    'securityContext.seLinuxChangePolicy',
    takesEffect(
      MOUNTS_FILE,
      'the runtime relabels the volumes; `MountOption` is rejected, because it needs the feature gate SELinuxMount',
    ),
  ],
];

const schedulingFields: [string, FieldTreatment][] = [
  ['nodeSelector{}', takesEffect('kubernetes/admission/nodeAffinity.ts', 'NodeAffinity if the node does not match')],
  [
    'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution',
    takesFullEffect('kubernetes/admission/nodeAffinity.ts', 'NodeAffinity if the node does not match'),
  ],
  [
    'affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[]',
    takesFullEffect(SCHEDULER, 'choice among nodes'),
  ],
  ['affinity.podAffinity', takesFullEffect(SCHEDULER, 'choice of a node by the pods there')],
  ['schedulerName', takesFullEffect(SCHEDULER, 'which scheduler binds the pod')],
  [
    'tolerations[].key',
    takesEffect('kubernetes/admission/taints.ts', 'taint of the node; TaintToleration if it is not tolerated'),
  ],
  ['tolerations[].operator', takesEffect('kubernetes/admission/taints.ts', 'comparison with the taint')],
  ['tolerations[].value', takesEffect('kubernetes/admission/taints.ts', 'value of the taint')],
  ['tolerations[].effect', takesEffect('kubernetes/admission/taints.ts', 'effect of the taint')],
  ['tolerations[].tolerationSeconds', takesFullEffect(TAINT_EVICTION, 'how long a NoExecute taint is tolerated')],
  [
    'priorityClassName',
    takesEffect(
      'kubernetes/api/pods/staticPod.ts',
      'whether a static pod is critical; else the API server sets `priority`',
    ),
  ],
  ['priority', takesEffect('kubernetes/resources/requests.ts', 'preemption for critical pods, order of shutdown')],
  ['preemptionPolicy', takesFullEffect(SCHEDULER, 'whether other pods are preempted')],
  ['topologySpreadConstraints[]', takesFullEffect(SCHEDULER, 'spread over nodes')],
  ['schedulingGates[]', rejectedField('kubernetes/api/validate.ts', 'a pod with gates cannot have a node yet')],
  ['schedulingGroup', takesFullEffect(SCHEDULER, 'group that is scheduled together')],
];

const podLevelFields: [string, FieldTreatment][] = [
  ['restartPolicy', takesEffect('kubernetes/lifecycle/restart.ts', 'restart policy of containers without their own')],
  ['terminationGracePeriodSeconds', takesEffect('machines/pod/termination.ts', 'grace period of the stop')],
  ['activeDeadlineSeconds', takesEffect('machines/pod/activeDeadline.ts', 'DeadlineExceeded after this time')],
  ['dnsPolicy', takesEffect('cri/config/dns.ts', 'source of the resolver configuration')],
  ['dnsConfig.nameservers[]', takesEffect('cri/config/dns.ts', 'further name servers')],
  ['dnsConfig.searches[]', takesEffect('cri/config/dns.ts', 'further search domains')],
  ['dnsConfig.options[].name', takesEffect('cri/config/dns.ts', 'option of the resolver')],
  ['dnsConfig.options[].value', takesEffect('cri/config/dns.ts', 'its value')],
  ['serviceAccountName', takesEffect('actors/objects/tokens/tokenRequest.ts', 'account of the tokens')],
  [
    'serviceAccount',
    takesFullEffect(API_SERVER, 'old name of `serviceAccountName`, which the API server sets from it'),
  ],
  ['automountServiceAccountToken', takesFullEffect(API_SERVER, 'whether the API server adds a volume with a token')],
  ['nodeName', takesEffect('kubernetes/admission/decide.ts', 'NodeName if it is another node')],
  ['hostNetwork', takesEffect('cri/config/namespaces.ts', 'network namespace of the node')],
  ['hostPID', takesEffect('cri/config/namespaces.ts', 'process namespace of the node')],
  ['hostIPC', takesEffect('cri/config/namespaces.ts', 'IPC namespace of the node')],
  [
    'hostUsers',
    takesEffect(
      'actors/services/sandboxes/sandboxes.ts',
      'user namespace if false; FailedCreatePodSandBox where the runtime has none, PodFeatureUnsupported with hostNetwork',
    ),
  ],
  ['shareProcessNamespace', takesEffect('cri/config/namespaces.ts', 'one process namespace for all containers')],
  ...podSecurityFields,
  ['imagePullSecrets[].name', takesEffect('kubernetes/images/pullSecrets.ts', 'credentials for pulls')],
  ['hostname', takesEffect('kubernetes/environment/hostname.ts', 'host name')],
  ['hostnameOverride', takesEffect('kubernetes/environment/hostname.ts', 'host name instead of all others')],
  ['subdomain', takesEffect('kubernetes/environment/hostname.ts', 'domain of the host name')],
  ['setHostnameAsFQDN', takesEffect('kubernetes/environment/hostname.ts', 'full host name in the kernel')],
  ['hostAliases[].ip', takesEffect('host/pods/hostsFile.ts', 'address in /etc/hosts')],
  ['hostAliases[].hostnames[]', takesEffect('host/pods/hostsFile.ts', 'its names')],
  ['readinessGates[].conditionType', takesEffect('kubernetes/status/conditions.ts', 'condition that Ready requires')],
  [
    'runtimeClassName',
    takesEffect(
      'actors/services/sandboxes/runtimeClasses.ts',
      'handler of the runtime; FailedCreatePodSandBox if there is no such class',
    ),
  ],
  [
    'enableServiceLinks',
    takesEffect('kubernetes/environment/serviceVariables.ts', 'variables for the services of the namespace'),
  ],
  ['overhead{}', takesEffect('cri/config/linuxResources.ts', 'added to the requests and to the cgroup of the pod')],
  ['os.name', takesEffect('kubernetes/admission/decide.ts', 'PodOSNotSupported if it is `windows`')],
  ['resourceClaims[].name', takesEffect('kubernetes/claims/podClaims.ts', 'name for the containers of the pod')],
  [
    'resourceClaims[].resourceClaimName',
    takesEffect('kubernetes/claims/podClaims.ts', 'claim that is prepared by its drivers; rejected in static pods'),
  ],
  [
    'resourceClaims[].resourceClaimTemplateName',
    takesEffect('kubernetes/claims/podClaims.ts', 'the claim in the status is prepared; rejected in static pods'),
  ],
  ['resources.limits{}', takesEffect('kubernetes/resources/resources.ts', 'limits of the cgroup of the pod')],
  [
    'resources.requests{}',
    takesEffect('kubernetes/resources/resources.ts', 'admission, weight of the cgroup of the pod'),
  ],
  [
    'resources.claims[]',
    rejectedField('kubernetes/api/validation/resources/podResources.ts', 'claims belong to containers'),
  ],
];

/**
 * Treatments by path. A treatment applies to the field at its path and, if `coversDescendants` is set, to all fields
 * below it.
 */
export const treatmentByPath: ReadonlyMap<string, FieldTreatment> = new Map([
  ...volumeFields,
  ...containerFields,
  ...ephemeralContainerFields,
  ...podLevelFields,
  ...schedulingFields,
]);
