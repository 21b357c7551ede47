/** Checks of the containers of a pod (`validateContainers`, `validateInitContainers` and `validateEphemeralContainers`). */
import { isSidecar } from '../containers.ts';
import type { Problem } from '../problem.ts';
import type { Container, ContainerPort } from '../schema/container.ts';
import type { PodSpec } from '../schema/pod.ts';
import { validateEnv, validateEnvFrom } from './env.ts';
import { noHandlers, validateHandlers } from './handlers.ts';
import { type ValidVolumes, validateDevices, validateMounts } from './mounts.ts';
import { portName } from './nameRules.ts';
import { validateResizePolicy } from './podResources.ts';
import { validateResources } from './resources.ts';
import { validateContainerSecurity } from './security.ts';
import {
  allInvalid,
  duplicate,
  forbidden,
  invalid,
  notFound,
  oneOf,
  portNumber,
  required,
  requiredLabel,
  requiredOneOf,
  requiredText,
  tooMany,
} from './words.ts';

/** The pod that containers belong to, as far as their checks depend on it. */
export interface Surroundings {
  readonly spec: PodSpec;
  readonly volumes: ValidVolumes;
  readonly podClaims: readonly string[];
}

/** Checks all containers, each list in the order of Kubernetes: the regular ones, the init containers, the ephemeral ones. */
export function validateContainers(surroundings: Surroundings): Problem[] {
  const { initContainers = [], containers, ephemeralContainers = [] } = surroundings.spec;
  return [
    ...(containers.length === 0 ? [required('spec.containers')] : validateRegular(containers, surroundings)),
    ...validateInit(initContainers, surroundings),
    ...validateEphemeral(ephemeralContainers, surroundings),
  ];
}

function validateRegular(containers: readonly Container[], surroundings: Surroundings): Problem[] {
  const path = 'spec.containers';
  const names = new Set<string>();
  return [
    ...containers.flatMap((container, index) => {
      const at = `${path}[${index}]`;
      return [
        ...validateCommon(container, surroundings, at),
        ...repeatedName(container, names, at),
        ...validateHandlers(container, graceSecondsOf(surroundings), at),
        ...validateRestartRules(container, at),
      ];
    }),
    ...repeatedHostPorts(containers, path),
  ];
}

const graceSecondsOf = ({ spec }: Surroundings): number => spec.terminationGracePeriodSeconds ?? 0;

function validateInit(containers: readonly Container[], surroundings: Surroundings): Problem[] {
  const path = 'spec.initContainers';
  const names = new Set(surroundings.spec.containers.map(({ name }) => name));
  return containers.flatMap((container, index) => {
    const at = `${path}[${index}]`;
    const handlers = isSidecar(container)
      ? validateHandlers(container, graceSecondsOf(surroundings), at)
      : [...noHandlers(container, at)];
    return [
      ...validateCommon(container, surroundings, at),
      ...validateInitRestartRules(container, at),
      ...repeatedName(container, names, at),
      // Init containers run one after the other, so each is checked alone, and Kubernetes names the first one's path.
      ...repeatedHostPorts([container], path),
      ...handlers,
      ...(isSidecar(container) ? [] : noRestartByResize(container, at)),
    ];
  });
}

const noRestartByResize = ({ resizePolicy = [] }: Container, path: string): Problem[] =>
  resizePolicy.flatMap(({ restartPolicy }, index) =>
    restartPolicy === 'RestartContainer'
      ? [
          invalid(
            `${path}.resizePolicy[${index}].restartPolicy`,
            restartPolicy,
            "must not be set to 'RestartContainer' for non-sidecar initContainers",
          ),
        ]
      : [],
  );

type EphemeralContainer = NonNullable<PodSpec['ephemeralContainers']>[number];

/** Fields that an ephemeral container may not have, with the value that counts as not set. */
const NOT_EPHEMERAL = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;

function validateEphemeral(containers: readonly EphemeralContainer[], surroundings: Surroundings): Problem[] {
  const { initContainers = [], containers: regular } = surroundings.spec;
  const targets = new Set([...regular, ...initContainers].map(({ name }) => name));
  const names = new Set(targets);
  const why = 'cannot be set for an Ephemeral Container';
  return containers.flatMap((container, index) => {
    const at = `spec.ephemeralContainers[${index}]`;
    const { targetContainerName: target = '', volumeMounts = [] } = container;
    return [
      ...validateCommon(container, surroundings, at),
      ...validateImage(container, at),
      ...repeatedName(container, names, at),
      ...(target !== '' && !targets.has(target) ? [notFound(`${at}.targetContainerName`, target)] : []),
      ...NOT_EPHEMERAL.filter((field) => isSet(container[field])).map((field) => forbidden(`${at}.${field}`, why)),
      ...volumeMounts.flatMap(({ subPath, subPathExpr }, position) => [
        ...(subPath ? [forbidden(`${at}.volumeMounts[${position}].subPath`, why)] : []),
        ...(subPathExpr ? [forbidden(`${at}.volumeMounts[${position}].subPathExpr`, why)] : []),
      ]),
    ];
  });
}

const isSet = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : value !== undefined;

/** Checks that images have no space around them, which a pod template may have (`validateContainerOnlyForPod`). */
export function validateImages({ containers, initContainers = [] }: PodSpec): Problem[] {
  return [
    ...containers.flatMap((container, index) => validateImage(container, `spec.containers[${index}]`)),
    ...initContainers.flatMap((container, index) => validateImage(container, `spec.initContainers[${index}]`)),
  ];
}

const validateImage = ({ image }: Container, path: string): Problem[] =>
  image === image.trim() ? [] : [invalid(`${path}.image`, image, 'must not have leading or trailing whitespace')];

function repeatedName({ name }: Container, names: Set<string>, path: string): Problem[] {
  const isRepeated = names.has(name);
  names.add(name);
  return isRepeated ? [duplicate(`${path}.name`, name)] : [];
}

const TERMINATION_MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'];
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];

/** Checks what all kinds of containers have (`validateContainerCommon`). */
function validateCommon(container: Container, { spec, volumes, podClaims }: Surroundings, path: string): Problem[] {
  const { name, image, ports = [], env = [], envFrom = [], resources = {}, resizePolicy = [] } = container;
  return [
    ...requiredLabel(`${path}.name`, name),
    ...requiredText(`${path}.image`, image),
    ...requiredOneOf(
      `${path}.terminationMessagePolicy`,
      container.terminationMessagePolicy,
      TERMINATION_MESSAGE_POLICIES,
    ),
    ...validatePorts(ports, `${path}.ports`),
    ...validateEnv(env, `${path}.env`),
    ...validateEnvFrom(envFrom, `${path}.envFrom`),
    ...validateMounts(container, volumes, `${path}.volumeMounts`),
    ...validateDevices(container, volumes, `${path}.volumeDevices`),
    ...requiredOneOf(`${path}.imagePullPolicy`, container.imagePullPolicy, PULL_POLICIES),
    ...validateResources(resources, `${path}.resources`, { podClaims }),
    ...validateResizePolicy(resizePolicy, spec.restartPolicy, `${path}.resizePolicy`),
    ...validateContainerSecurity(container, spec, `${path}.securityContext`),
  ];
}

function validatePorts(ports: readonly ContainerPort[], path: string): Problem[] {
  const names = new Set<string>();
  return ports.flatMap(({ name = '', containerPort, hostPort = 0, protocol = '' }, index) => {
    const at = `${path}[${index}]`;
    return [
      ...(name === '' ? [] : validatePortName(name, names, `${at}.name`)),
      ...(containerPort === 0 ? [required(`${at}.containerPort`)] : portNumber(`${at}.containerPort`, containerPort)),
      ...(hostPort === 0 ? [] : portNumber(`${at}.hostPort`, hostPort)),
      ...requiredOneOf(`${at}.protocol`, protocol, ['SCTP', 'TCP', 'UDP']),
    ];
  });
}

function validatePortName(name: string, names: Set<string>, path: string): Problem[] {
  const problems = allInvalid(path, name, portName(name));
  if (problems.length > 0) return problems;
  if (names.has(name)) return [duplicate(path, name)];
  names.add(name);
  return [];
}

/** Reports host ports that two containers want. */
function repeatedHostPorts(containers: readonly Container[], path: string): Problem[] {
  const seen = new Set<string>();
  return containers.flatMap(({ ports = [] }, index) =>
    ports.flatMap(({ protocol = '', hostIP = '', hostPort = 0 }, position) => {
      const key = `${protocol}/${hostIP}/${hostPort}`;
      if (hostPort === 0 || !seen.has(key)) {
        seen.add(key);
        return [];
      }
      return [duplicate(`${path}[${index}].ports[${position}].hostPort`, key)];
    }),
  );
}

const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;

/** The rules of an init container without a policy are not checked themselves. */
const validateInitRestartRules = (container: Container, path: string): Problem[] =>
  container.restartPolicy === undefined ? missingPolicy(container, path) : validateRestartRules(container, path);

const missingPolicy = ({ restartPolicy, restartPolicyRules: rules = [] }: Container, path: string): Problem[] =>
  restartPolicy === undefined && rules.length > 0
    ? [required(`${path}.restartPolicy`, 'must specify restartPolicy when restart rules are used')]
    : [];

function validateRestartRules(container: Container, path: string): Problem[] {
  const { restartPolicy, restartPolicyRules: rules = [] } = container;
  const at = `${path}.restartPolicy`;
  return [
    ...missingPolicy(container, path),
    ...oneOf(at, restartPolicy, ['Always', 'Never', 'OnFailure']),
    ...(rules.length > MAX_RULES ? [tooMany(`${path}.restartPolicyRules`, rules.length, MAX_RULES)] : []),
    ...rules.flatMap((rule, index) => validateRestartRule(rule, `${path}.restartPolicyRules[${index}]`)),
  ];
}

type RestartRule = NonNullable<Container['restartPolicyRules']>[number];

function validateRestartRule({ action, exitCodes }: RestartRule, path: string): Problem[] {
  return [
    ...oneOf(`${path}.action`, action, ['Restart', 'RestartAllContainers']),
    ...(exitCodes === undefined
      ? [required(`${path}.exitCodes`, 'must be specified')]
      : validateExitCodes(exitCodes, `${path}.exitCodes`)),
  ];
}

function validateExitCodes({ operator, values = [] }: NonNullable<RestartRule['exitCodes']>, path: string): Problem[] {
  return [
    ...oneOf(`${path}.operator`, operator, ['In', 'NotIn']),
    ...(values.length > MAX_EXIT_CODES ? [tooMany(`${path}.values`, values.length, MAX_EXIT_CODES)] : []),
  ];
}
