/** Lists how the node treats each field of a pod's spec. docs/pod-fields.md is generated from this list. */

type Treatment = 'takes effect' | 'rejected' | 'holds the pod back';

export interface FieldTreatment {
  readonly treatment: Treatment;
  /**
   * File of the product that reads the field, or the part of a cluster that acts on it before the node gets the pod.
   */
  readonly by: string;
  /** Effect of the field, or the reason that users see for a pod that does not run. */
  readonly text: string;
  /** Covers all fields below the path, because the pod is treated the same regardless of which of them is set. */
  readonly isWhole?: true;
}

const SCHEDULER = 'scheduler';
export const API_SERVER = 'API server';
const TAINT_EVICTION = 'taint eviction controller';

/** Values of `by` that are parts of a cluster and not files. */
export const CLUSTER_PARTS: ReadonlySet<string> = new Set([SCHEDULER, API_SERVER, TAINT_EVICTION]);

const acts = (by: string, text: string): FieldTreatment => ({ treatment: 'takes effect', by, text });
const actsWhole = (by: string, text: string): FieldTreatment => ({ ...acts(by, text), isWhole: true });
const rejects = (by: string, text: string): FieldTreatment => ({ treatment: 'rejected', by, text, isWhole: true });
const holds = (by: string, text: string): FieldTreatment => ({
  treatment: 'holds the pod back',
  by,
  text,
  isWhole: true,
});

const DEFAULTS_MODE = 'mode of files without their own';
const PROJECTION = 'kubernetes/environment/projection.ts';
const FIELD_REF = 'kubernetes/environment/fieldRef.ts';
const MOUNTS = 'cri/config/mounts.ts';
const CONTAINER = 'cri/config/containerConfig.ts';
const SECURITY = 'cri/config/securityContext.ts';
const PROFILES = 'cri/config/securityProfiles.ts';
const PROBES = 'actors/services/probes/probes.ts';
const HTTP_GET = 'actors/services/http/httpGet.ts';
const HOOKS = 'actors/services/containers/hooks.ts';
const PROBE_TIMES = 'machines/probe/context.ts';
const EPHEMERAL = 'not allowed for ephemeral containers';
const UNKNOWN_VOLUME = 'FailedMount: volumes of this type are not supported on this node';
const WINDOWS = 'PodOSNotSupported: Windows options on a Linux node';

/** Volumes without a plugin. */
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
const itemsOfObject = (path: string): [string, FieldTreatment][] => [
  [`${path}.items[].key`, acts(PROJECTION, 'key of the object')],
  [`${path}.items[].path`, acts(PROJECTION, 'file that shows the key')],
  [`${path}.items[].mode`, acts(PROJECTION, 'mode of the file')],
  [`${path}.optional`, acts(PROJECTION, 'whether the pod may run without the object')],
];

const itemsOfDownwardApi = (path: string): [string, FieldTreatment][] => [
  [`${path}.items[].path`, acts(PROJECTION, 'file that shows the value')],
  [`${path}.items[].mode`, acts(PROJECTION, 'mode of the file')],
  ...fieldRefs(`${path}.items[]`, PROJECTION),
];

const fieldRefs = (path: string, by: string): [string, FieldTreatment][] => [
  [`${path}.fieldRef.apiVersion`, acts('kubernetes/api/defaultVolumes.ts', '`v1`, the only version of the fields')],
  [`${path}.fieldRef.fieldPath`, acts(by, 'field of the pod')],
  [`${path}.resourceFieldRef.containerName`, acts(FIELD_REF, 'container whose resource is shown')],
  [`${path}.resourceFieldRef.resource`, acts(FIELD_REF, 'request or limit to show')],
  [`${path}.resourceFieldRef.divisor`, acts(FIELD_REF, 'unit of the value')],
];

const volumes: [string, FieldTreatment][] = [
  ['volumes[].name', acts('actors/services/disk/disk.ts', 'names the volume for mounts, and its directory')],
  ['volumes[].hostPath.path', acts('volume/plugins/hostPath.ts', 'path on the node')],
  [
    'volumes[].hostPath.type',
    acts('volume/plugins/hostPath.ts', 'checks or creates the path; FailedMount if it does not fit'),
  ],
  [
    'volumes[].emptyDir.medium',
    acts('volume/plugins/emptyDir.ts', 'disk, tmpfs or huge pages; FailedMount for any other medium'),
  ],
  [
    'volumes[].emptyDir.sizeLimit',
    acts('volume/plugins/emptyDir.ts', 'size of a tmpfs; on disk not enforced, because the node evicts no pods'),
  ],
  ['volumes[].secret.secretName', acts(PROJECTION, 'the Secret')],
  ...itemsOfObject('volumes[].secret'),
  ['volumes[].secret.defaultMode', acts(PROJECTION, DEFAULTS_MODE)],
  ['volumes[].configMap.name', acts(PROJECTION, 'the ConfigMap')],
  ...itemsOfObject('volumes[].configMap'),
  ['volumes[].configMap.defaultMode', acts(PROJECTION, DEFAULTS_MODE)],
  ...itemsOfDownwardApi('volumes[].downwardAPI'),
  ['volumes[].downwardAPI.defaultMode', acts(PROJECTION, DEFAULTS_MODE)],
  ['volumes[].projected.sources[].secret.name', acts(PROJECTION, 'the Secret')],
  ...itemsOfObject('volumes[].projected.sources[].secret'),
  ['volumes[].projected.sources[].configMap.name', acts(PROJECTION, 'the ConfigMap')],
  ...itemsOfObject('volumes[].projected.sources[].configMap'),
  ...itemsOfDownwardApi('volumes[].projected.sources[].downwardAPI'),
  [
    'volumes[].projected.sources[].serviceAccountToken.audience',
    acts('volume/plugins/payload.ts', 'audience of the token'),
  ],
  [
    'volumes[].projected.sources[].serviceAccountToken.expirationSeconds',
    acts('volume/plugins/payload.ts', 'requested lifetime of the token'),
  ],
  ['volumes[].projected.sources[].serviceAccountToken.path', acts('volume/plugins/payload.ts', 'file of the token')],
  [
    'volumes[].projected.sources[].clusterTrustBundle',
    actsWhole('volume/plugins/payload.ts', 'trust anchors, by name or by signer and labels'),
  ],
  [
    'volumes[].projected.sources[].podCertificate',
    holds(PROJECTION, 'FailedMount: this node requests no certificates for pods'),
  ],
  ['volumes[].projected.defaultMode', acts(PROJECTION, DEFAULTS_MODE)],
  ['volumes[].image.reference', acts('machines/volume/setup.ts', 'image to mount')],
  ['volumes[].image.pullPolicy', acts('machines/volume/setup.ts', 'whether to pull it')],
  ...UNSUPPORTED_VOLUMES.map((kind): [string, FieldTreatment] => [
    `volumes[].${kind}`,
    holds('volume/plugins/plugin.ts', UNKNOWN_VOLUME),
  ]),
];

const httpGetFields = (path: string, by: string): [string, FieldTreatment][] => [
  [`${path}.httpGet.path`, acts(by, 'path and query of the URL')],
  [`${path}.httpGet.port`, acts(by, 'port, or name of a port')],
  [`${path}.httpGet.host`, acts(by, 'host instead of the pod')],
  [`${path}.httpGet.scheme`, acts(by, 'HTTP or HTTPS')],
  [`${path}.httpGet.httpHeaders[].name`, acts(by, 'header of the request')],
  [`${path}.httpGet.httpHeaders[].value`, acts(by, 'its value')],
];

const probe = 'containers[].livenessProbe';
const probeFields: [string, FieldTreatment][] = [
  [`${probe}.exec.command[]`, acts(PROBES, 'command to run in the container')],
  ...httpGetFields(probe, HTTP_GET),
  [`${probe}.tcpSocket.port`, acts(PROBES, 'port to connect to')],
  [`${probe}.tcpSocket.host`, acts(PROBES, 'host instead of the pod')],
  [`${probe}.grpc.port`, acts('actors/services/probes/probeGrpc.ts', 'port of the health service')],
  [`${probe}.grpc.service`, acts('actors/services/probes/probeGrpc.ts', 'service to check')],
  [`${probe}.initialDelaySeconds`, acts(PROBE_TIMES, 'delay of the first attempt')],
  [`${probe}.timeoutSeconds`, acts(PROBES, 'limit of an attempt')],
  [`${probe}.periodSeconds`, acts(PROBE_TIMES, 'interval of the attempts')],
  [`${probe}.successThreshold`, acts(PROBE_TIMES, 'successes until it passes')],
  [`${probe}.failureThreshold`, acts(PROBE_TIMES, 'failures until it fails')],
  [
    `${probe}.terminationGracePeriodSeconds`,
    acts('machines/container/states/running.ts', 'grace period of a restart by the probe'),
  ],
];

const hook = 'containers[].lifecycle.postStart';
const lifecycleFields: [string, FieldTreatment][] = [
  [`${hook}.exec.command[]`, acts(HOOKS, 'command to run in the container')],
  ...httpGetFields(hook, HTTP_GET),
  [
    `${hook}.tcpSocket`,
    holds(HOOKS, 'PostStartHookError, before a stop FailedPreStopHook: Kubernetes has no such hook'),
  ],
  [`${hook}.sleep.seconds`, acts(HOOKS, 'duration of the pause')],
  [
    'containers[].lifecycle.stopSignal',
    acts(CONTAINER, 'signal of the stop; CreateContainerError where the runtime has no such setting'),
  ],
];

const securityFields: [string, FieldTreatment][] = [
  ['containers[].securityContext.capabilities.add[]', acts(SECURITY, 'capabilities beside the default ones')],
  ['containers[].securityContext.capabilities.drop[]', acts(SECURITY, 'capabilities to drop')],
  ['containers[].securityContext.privileged', acts(SECURITY, 'all privileges')],
  ['containers[].securityContext.seLinuxOptions', actsWhole(SECURITY, 'label of the processes and of its volumes')],
  ['containers[].securityContext.windowsOptions', rejects('kubernetes/admission/decide.ts', WINDOWS)],
  ['containers[].securityContext.runAsUser', acts(SECURITY, 'user')],
  ['containers[].securityContext.runAsGroup', acts(SECURITY, 'primary group')],
  [
    'containers[].securityContext.runAsNonRoot',
    acts('cri/config/imageUser.ts', 'CreateContainerConfigError if the user is root'),
  ],
  ['containers[].securityContext.readOnlyRootFilesystem', acts(SECURITY, 'read-only root file system')],
  ['containers[].securityContext.allowPrivilegeEscalation', acts(SECURITY, 'no_new_privs if false')],
  ['containers[].securityContext.procMount', acts(SECURITY, 'masked paths of /proc')],
  ['containers[].securityContext.seccompProfile.type', acts(PROFILES, 'seccomp profile')],
  ['containers[].securityContext.seccompProfile.localhostProfile', acts(PROFILES, 'its file')],
  [
    'containers[].securityContext.appArmorProfile.type',
    acts('kubernetes/api/appArmor.ts', 'AppArmor profile; AppArmor as the reason of a rejection on a host without'),
  ],
  ['containers[].securityContext.appArmorProfile.localhostProfile', acts(PROFILES, 'its name')],
];

const containers: [string, FieldTreatment][] = [
  ['containers[].name', acts(CONTAINER, 'names the container')],
  ['containers[].image', acts('machines/container/states/pending.ts', 'image to run')],
  ['containers[].command[]', acts('kubernetes/environment/environment.ts', 'entry point, with variables expanded')],
  ['containers[].args[]', acts('kubernetes/environment/environment.ts', 'arguments, with variables expanded')],
  ['containers[].workingDir', acts(CONTAINER, 'working directory')],
  ['containers[].ports[].name', acts('kubernetes/api/containers.ts', 'name of the port for probes and hooks')],
  ['containers[].ports[].hostPort', acts('cri/config/sandboxConfig.ts', 'port of the node; NodePorts if it is taken')],
  ['containers[].ports[].containerPort', acts('cri/config/sandboxConfig.ts', 'port that the host port leads to')],
  ['containers[].ports[].protocol', acts('cri/config/sandboxConfig.ts', 'protocol of the host port')],
  ['containers[].ports[].hostIP', acts('cri/config/sandboxConfig.ts', 'address of the host port')],
  ['containers[].envFrom[].prefix', acts('kubernetes/environment/environment.ts', 'prefix of the variables')],
  ['containers[].envFrom[].configMapRef.name', acts('kubernetes/environment/configValues.ts', 'the ConfigMap')],
  [
    'containers[].envFrom[].configMapRef.optional',
    acts('kubernetes/environment/configValues.ts', 'whether it may be missing'),
  ],
  ['containers[].envFrom[].secretRef.name', acts('kubernetes/environment/configValues.ts', 'the Secret')],
  [
    'containers[].envFrom[].secretRef.optional',
    acts('kubernetes/environment/configValues.ts', 'whether it may be missing'),
  ],
  ['containers[].env[].name', acts('kubernetes/environment/environment.ts', 'name of the variable')],
  ['containers[].env[].value', acts('kubernetes/environment/environment.ts', 'its value, with variables expanded')],
  ...fieldRefs('containers[].env[].valueFrom', 'cri/config/environment.ts'),
  [
    'containers[].env[].valueFrom.configMapKeyRef.name',
    acts('kubernetes/environment/configValues.ts', 'the ConfigMap'),
  ],
  ['containers[].env[].valueFrom.configMapKeyRef.key', acts('kubernetes/environment/configValues.ts', 'its key')],
  [
    'containers[].env[].valueFrom.configMapKeyRef.optional',
    acts('kubernetes/environment/configValues.ts', 'whether it may be missing'),
  ],
  ['containers[].env[].valueFrom.secretKeyRef.name', acts('kubernetes/environment/configValues.ts', 'the Secret')],
  ['containers[].env[].valueFrom.secretKeyRef.key', acts('kubernetes/environment/configValues.ts', 'its key')],
  [
    'containers[].env[].valueFrom.secretKeyRef.optional',
    acts('kubernetes/environment/configValues.ts', 'whether it may be missing'),
  ],
  ['containers[].env[].valueFrom.fileKeyRef.volumeName', acts('cri/config/environment.ts', 'volume of the file')],
  ['containers[].env[].valueFrom.fileKeyRef.path', acts('cri/config/environment.ts', 'file of variables')],
  [
    'containers[].env[].valueFrom.fileKeyRef.key',
    acts('kubernetes/environment/environment.ts', 'variable of the file'),
  ],
  [
    'containers[].env[].valueFrom.fileKeyRef.optional',
    acts('kubernetes/environment/environment.ts', 'whether it may be missing'),
  ],
  [
    'containers[].resources.limits{}',
    acts(
      'kubernetes/resources/resources.ts',
      'limits of cpu, memory and huge pages; ephemeral storage is not limited, because the node evicts no pods',
    ),
  ],
  [
    'containers[].resources.requests{}',
    acts(
      'kubernetes/resources/requests.ts',
      'admission (`OutOf…`, also of an extended resource that the node lacks), cgroup weight',
    ),
  ],
  [
    'containers[].resources.claims[]',
    holds('kubernetes/resources/devices.ts', 'FailedPrepareDynamicResources, with the claim of the pod'),
  ],
  ['containers[].resizePolicy[].resourceName', acts('kubernetes/resources/resize.ts', 'resource of the policy')],
  [
    'containers[].resizePolicy[].restartPolicy',
    acts('kubernetes/resources/resize.ts', 'whether a resize restarts the container'),
  ],
  [
    'containers[].restartPolicy',
    acts('kubernetes/lifecycle/restart.ts', 'restart policy of the container; `Always` for a sidecar'),
  ],
  [
    'containers[].restartPolicyRules[].action',
    acts('kubernetes/lifecycle/restart.ts', 'restarts the container or the pod'),
  ],
  [
    'containers[].restartPolicyRules[].exitCodes.operator',
    acts('kubernetes/lifecycle/restart.ts', 'comparison of the exit code'),
  ],
  [
    'containers[].restartPolicyRules[].exitCodes.values[]',
    acts('kubernetes/lifecycle/restart.ts', 'exit codes of the rule'),
  ],
  ['containers[].volumeMounts[].name', acts(MOUNTS, 'volume to mount')],
  ['containers[].volumeMounts[].readOnly', acts(MOUNTS, 'read-only mount')],
  [
    'containers[].volumeMounts[].recursiveReadOnly',
    acts(MOUNTS, 'also for nested mounts; CreateContainerConfigError where the runtime cannot'),
  ],
  ['containers[].volumeMounts[].mountPath', acts(MOUNTS, 'path in the container')],
  [
    'containers[].volumeMounts[].subPath',
    acts(MOUNTS, 'part of the volume; of an image CreateContainerError where the runtime cannot'),
  ],
  ['containers[].volumeMounts[].mountPropagation', acts(MOUNTS, 'propagation of later mounts')],
  ['containers[].volumeMounts[].subPathExpr', acts(MOUNTS, 'part of the volume, with variables expanded')],
  [
    'containers[].volumeDevices[]',
    holds('volume/plugins/plugin.ts', 'FailedMount: block devices come only from volume types that are not supported'),
  ],
  ...probeFields,
  ...lifecycleFields,
  ['containers[].terminationMessagePath', acts(MOUNTS, 'file of the termination message')],
  ['containers[].terminationMessagePolicy', acts(CONTAINER, 'whether the log stands in for the message')],
  ['containers[].imagePullPolicy', acts('machines/container/states/pending.ts', 'whether to pull the image')],
  ...securityFields,
  ['containers[].stdin', acts(CONTAINER, 'open standard input')],
  ['containers[].stdinOnce', acts(CONTAINER, 'closes it after the first client')],
  ['containers[].tty', acts(CONTAINER, 'terminal')],
];

const ephemeralContainers: [string, FieldTreatment][] = [
  ...['ports[]', 'resources', 'livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle', 'resizePolicy[]'].map(
    (field): [string, FieldTreatment] => [`ephemeralContainers[].${field}`, rejects(API_SERVER, EPHEMERAL)],
  ),
  ...['restartPolicy', 'restartPolicyRules[]', 'volumeMounts[].subPath', 'volumeMounts[].subPathExpr'].map(
    (field): [string, FieldTreatment] => [`ephemeralContainers[].${field}`, rejects(API_SERVER, EPHEMERAL)],
  ),
  [
    'ephemeralContainers[].targetContainerName',
    acts('actors/services/containers/containers.ts', 'container whose process namespace it shares'),
  ],
];

const podSecurity: [string, FieldTreatment][] = [
  ['securityContext.seLinuxOptions', actsWhole(SECURITY, 'label of containers without their own')],
  ['securityContext.windowsOptions', rejects('kubernetes/admission/decide.ts', WINDOWS)],
  ['securityContext.runAsUser', acts(SECURITY, 'user of containers without their own')],
  ['securityContext.runAsGroup', acts(SECURITY, 'primary group of containers without their own')],
  ['securityContext.runAsNonRoot', acts('cri/config/imageUser.ts', 'CreateContainerConfigError if a user is root')],
  ['securityContext.supplementalGroups[]', acts(SECURITY, 'further groups')],
  [
    'securityContext.supplementalGroupsPolicy',
    acts('kubernetes/admission/decide.ts', 'SupplementalGroupsPolicyNotSupported where the runtime has no `Strict`'),
  ],
  ['securityContext.fsGroup', acts('volume/plugins/emptyDir.ts', 'group that owns the volumes')],
  ['securityContext.fsGroupChangePolicy', acts('volume/plugins/emptyDir.ts', 'whether a right root is enough')],
  [
    'securityContext.sysctls[].name',
    acts('cri/config/sandboxConfig.ts', 'sysctl; SysctlForbidden if it is not allowed'),
  ],
  ['securityContext.sysctls[].value', acts('cri/config/sandboxConfig.ts', 'its value')],
  ['securityContext.seccompProfile.type', acts(PROFILES, 'profile of containers without their own')],
  ['securityContext.seccompProfile.localhostProfile', acts(PROFILES, 'its file')],
  [
    'securityContext.appArmorProfile.type',
    acts('kubernetes/api/appArmor.ts', 'profile of containers without their own'),
  ],
  ['securityContext.appArmorProfile.localhostProfile', acts(PROFILES, 'its name')],
  [
    'securityContext.seLinuxChangePolicy',
    acts(
      MOUNTS,
      'the runtime relabels the volumes; `MountOption` is rejected, because it needs the feature gate SELinuxMount',
    ),
  ],
];

const scheduling: [string, FieldTreatment][] = [
  ['nodeSelector{}', acts('kubernetes/admission/nodeAffinity.ts', 'NodeAffinity if the node does not match')],
  [
    'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution',
    actsWhole('kubernetes/admission/nodeAffinity.ts', 'NodeAffinity if the node does not match'),
  ],
  [
    'affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[]',
    actsWhole(SCHEDULER, 'choice among nodes'),
  ],
  ['affinity.podAffinity', actsWhole(SCHEDULER, 'choice of a node by the pods there')],
  ['schedulerName', actsWhole(SCHEDULER, 'which scheduler binds the pod')],
  [
    'tolerations[].key',
    acts('kubernetes/admission/taints.ts', 'taint of the node; TaintToleration if it is not tolerated'),
  ],
  ['tolerations[].operator', acts('kubernetes/admission/taints.ts', 'comparison with the taint')],
  ['tolerations[].value', acts('kubernetes/admission/taints.ts', 'value of the taint')],
  ['tolerations[].effect', acts('kubernetes/admission/taints.ts', 'effect of the taint')],
  ['tolerations[].tolerationSeconds', actsWhole(TAINT_EVICTION, 'how long a NoExecute taint is tolerated')],
  [
    'priorityClassName',
    acts('kubernetes/api/staticPod.ts', 'whether a static pod is critical; else the API server sets `priority`'),
  ],
  ['priority', acts('kubernetes/resources/requests.ts', 'preemption for critical pods, order of shutdown')],
  ['preemptionPolicy', actsWhole(SCHEDULER, 'whether other pods are preempted')],
  ['topologySpreadConstraints[]', actsWhole(SCHEDULER, 'spread over nodes')],
  ['schedulingGates[]', rejects('kubernetes/api/validate.ts', 'a pod with gates cannot have a node yet')],
  ['schedulingGroup', actsWhole(SCHEDULER, 'group that is scheduled together')],
];

const pod: [string, FieldTreatment][] = [
  ['restartPolicy', acts('kubernetes/lifecycle/restart.ts', 'restart policy of containers without their own')],
  ['terminationGracePeriodSeconds', acts('machines/pod/termination.ts', 'grace period of the stop')],
  ['activeDeadlineSeconds', acts('machines/pod/activeDeadline.ts', 'DeadlineExceeded after this time')],
  ['dnsPolicy', acts('cri/config/dns.ts', 'source of the resolver configuration')],
  ['dnsConfig.nameservers[]', acts('cri/config/dns.ts', 'further name servers')],
  ['dnsConfig.searches[]', acts('cri/config/dns.ts', 'further search domains')],
  ['dnsConfig.options[].name', acts('cri/config/dns.ts', 'option of the resolver')],
  ['dnsConfig.options[].value', acts('cri/config/dns.ts', 'its value')],
  ['serviceAccountName', acts('actors/objects/tokens/tokenRequest.ts', 'account of the tokens')],
  ['serviceAccount', actsWhole(API_SERVER, 'old name of `serviceAccountName`, which the API server sets from it')],
  ['automountServiceAccountToken', actsWhole(API_SERVER, 'whether the API server adds a volume with a token')],
  ['nodeName', acts('kubernetes/admission/decide.ts', 'NodeName if it is another node')],
  ['hostNetwork', acts('cri/config/namespaces.ts', 'network namespace of the node')],
  ['hostPID', acts('cri/config/namespaces.ts', 'process namespace of the node')],
  ['hostIPC', acts('cri/config/namespaces.ts', 'IPC namespace of the node')],
  [
    'hostUsers',
    acts(
      'actors/services/sandboxes/sandboxes.ts',
      'user namespace if false; FailedCreatePodSandBox where the runtime has none, PodFeatureUnsupported with hostNetwork',
    ),
  ],
  ['shareProcessNamespace', acts('cri/config/namespaces.ts', 'one process namespace for all containers')],
  ...podSecurity,
  ['imagePullSecrets[].name', acts('kubernetes/images/pullSecrets.ts', 'credentials for pulls')],
  ['hostname', acts('kubernetes/environment/hostname.ts', 'host name')],
  ['hostnameOverride', acts('kubernetes/environment/hostname.ts', 'host name instead of all others')],
  ['subdomain', acts('kubernetes/environment/hostname.ts', 'domain of the host name')],
  ['setHostnameAsFQDN', acts('kubernetes/environment/hostname.ts', 'full host name in the kernel')],
  ['hostAliases[].ip', acts('host/pods/hostsFile.ts', 'address in /etc/hosts')],
  ['hostAliases[].hostnames[]', acts('host/pods/hostsFile.ts', 'its names')],
  ['readinessGates[].conditionType', acts('kubernetes/status/conditions.ts', 'condition that Ready requires')],
  [
    'runtimeClassName',
    acts(
      'actors/services/sandboxes/runtimeClasses.ts',
      'handler of the runtime; FailedCreatePodSandBox if there is no such class',
    ),
  ],
  [
    'enableServiceLinks',
    acts('kubernetes/environment/serviceVariables.ts', 'variables for the services of the namespace'),
  ],
  ['overhead{}', acts('cri/config/linuxResources.ts', 'added to the requests and to the cgroup of the pod')],
  ['os.name', acts('kubernetes/admission/decide.ts', 'PodOSNotSupported if it is `windows`')],
  [
    'resourceClaims[]',
    holds(
      'kubernetes/resources/devices.ts',
      'FailedPrepareDynamicResources: this node does not support devices; rejected in static pods',
    ),
  ],
  ['resources.limits{}', acts('kubernetes/resources/resources.ts', 'limits of the cgroup of the pod')],
  ['resources.requests{}', acts('kubernetes/resources/resources.ts', 'admission, weight of the cgroup of the pod')],
  ['resources.claims[]', rejects('kubernetes/api/validation/podResources.ts', 'claims belong to containers')],
];

/** Treatments by path. A path stands for itself and, if `isWhole`, for everything below it. */
export const treatments: ReadonlyMap<string, FieldTreatment> = new Map([
  ...volumes,
  ...containers,
  ...ephemeralContainers,
  ...pod,
  ...scheduling,
]);
