/**
 * Validates the containers of a pod (`validateContainers`, `validateInitContainers` and `validateEphemeralContainers`).
 */
import { isSidecar } from '../../pods/containers.ts';
import type { Problem } from '../../problem.ts';
import type { Container, ContainerPort } from '../../schema/container.ts';
import type { PodSpec } from '../../schema/pod.ts';
import { portNameProblems } from '../metadata/nameRules.ts';
import { validateContainerSecurity } from '../pod/security.ts';
import { validateResizePolicy } from '../resources/podResources.ts';
import { validateResources } from '../resources/resources.ts';
import {
  allInvalid,
  duplicate,
  forbidden,
  invalid,
  notFound,
  required,
  tooMany,
  validateOneOf,
  validatePortNumber,
  validateRequiredLabel,
  validateRequiredOneOf,
  validateRequiredText,
} from '../words.ts';
import { validateEnv, validateEnvFrom } from './env.ts';
import { forbidHandlers, validateHandlers } from './handlers.ts';
import { type ValidVolumes, validateDevices, validateMounts } from './mounts.ts';

/** Parts of the pod on which the validation of its containers depends. */
export interface PodValidationContext {
  readonly spec: PodSpec;
  readonly volumes: ValidVolumes;
  readonly podClaims: readonly string[];
}

/** Validates all containers in the order of Kubernetes, i.e. regular, init and ephemeral containers. */
export function validateContainers(context: PodValidationContext): Problem[] {
  const { initContainers = [], containers, ephemeralContainers = [] } = context.spec;
  return [
    ...(containers.length === 0 ? [required('spec.containers')] : validateRegular(containers, context)),
    ...validateInit(initContainers, context),
    ...validateEphemeral(ephemeralContainers, context),
  ];
}

function validateRegular(containers: readonly Container[], context: PodValidationContext): Problem[] {
  const path = 'spec.containers';
  const names = new Set<string>();
  return [
    ...containers.flatMap((container, index) => {
      const itemPath = `${path}[${index}]`;
      return [
        ...validateCommon(container, context, itemPath),
        ...validateUniqueName(container, names, itemPath),
        ...validateHandlers(container, graceSecondsOf(context), itemPath),
        ...validateRestartRules(container, itemPath),
      ];
    }),
    ...validateUniqueHostPorts(containers, path),
  ];
}

const graceSecondsOf = ({ spec }: PodValidationContext): number => spec.terminationGracePeriodSeconds ?? 0;

function validateInit(containers: readonly Container[], context: PodValidationContext): Problem[] {
  const path = 'spec.initContainers';
  const names = new Set(context.spec.containers.map(({ name }) => name));
  return containers.flatMap((container, index) => {
    const itemPath = `${path}[${index}]`;
    const handlerProblems = isSidecar(container)
      ? validateHandlers(container, graceSecondsOf(context), itemPath)
      : [...forbidHandlers(container, itemPath)];
    return [
      ...validateCommon(container, context, itemPath),
      ...validateInitRestartRules(container, itemPath),
      ...validateUniqueName(container, names, itemPath),
      // Check each init container separately, because init containers run sequentially and may use the same port.
      // Kubernetes reports the path of the first init container in every case.
      ...validateUniqueHostPorts([container], path),
      ...handlerProblems,
      ...(isSidecar(container) ? [] : forbidResizeRestart(container, itemPath)),
    ];
  });
}

const forbidResizeRestart = ({ resizePolicy = [] }: Container, path: string): Problem[] =>
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

/** Fields that an ephemeral container must not have. */
const FORBIDDEN_FIELDS = [
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

function validateEphemeral(containers: readonly EphemeralContainer[], context: PodValidationContext): Problem[] {
  const { initContainers = [], containers: regular } = context.spec;
  const targetNames = new Set([...regular, ...initContainers].map(({ name }) => name));
  const names = new Set(targetNames);
  const reason = 'cannot be set for an Ephemeral Container';
  return containers.flatMap((container, index) => {
    const itemPath = `spec.ephemeralContainers[${index}]`;
    const { targetContainerName: target = '', volumeMounts = [] } = container;
    return [
      ...validateCommon(container, context, itemPath),
      ...validateImage(container, itemPath),
      ...validateUniqueName(container, names, itemPath),
      ...(target !== '' && !targetNames.has(target) ? [notFound(`${itemPath}.targetContainerName`, target)] : []),
      ...FORBIDDEN_FIELDS.filter((field) => isSet(container[field])).map((field) =>
        forbidden(`${itemPath}.${field}`, reason),
      ),
      ...volumeMounts.flatMap(({ subPath, subPathExpr }, position) => [
        ...(subPath ? [forbidden(`${itemPath}.volumeMounts[${position}].subPath`, reason)] : []),
        ...(subPathExpr ? [forbidden(`${itemPath}.volumeMounts[${position}].subPathExpr`, reason)] : []),
      ]),
    ];
  });
}

const isSet = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : value !== undefined;

/**
 * Checks that no image name starts or ends with white space, which is allowed only in pod templates
 * (`validateContainerOnlyForPod`).
 */
export function validateImages({ containers, initContainers = [] }: PodSpec): Problem[] {
  return [
    ...containers.flatMap((container, index) => validateImage(container, `spec.containers[${index}]`)),
    ...initContainers.flatMap((container, index) => validateImage(container, `spec.initContainers[${index}]`)),
  ];
}

const validateImage = ({ image }: Container, path: string): Problem[] =>
  image === image.trim() ? [] : [invalid(`${path}.image`, image, 'must not have leading or trailing whitespace')];

function validateUniqueName({ name }: Container, names: Set<string>, path: string): Problem[] {
  const isRepeated = names.has(name);
  names.add(name);
  return isRepeated ? [duplicate(`${path}.name`, name)] : [];
}

const TERMINATION_MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'];
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];

/** Validates the fields that all kinds of containers have (`validateContainerCommon`). */
function validateCommon(
  container: Container,
  { spec, volumes, podClaims }: PodValidationContext,
  path: string,
): Problem[] {
  const { name, image, ports = [], env = [], envFrom = [], resources = {}, resizePolicy = [] } = container;
  return [
    ...validateRequiredLabel(`${path}.name`, name),
    ...validateRequiredText(`${path}.image`, image),
    ...validateRequiredOneOf(
      `${path}.terminationMessagePolicy`,
      container.terminationMessagePolicy,
      TERMINATION_MESSAGE_POLICIES,
    ),
    ...validatePorts(ports, `${path}.ports`),
    ...validateEnv(env, `${path}.env`),
    ...validateEnvFrom(envFrom, `${path}.envFrom`),
    ...validateMounts(container, volumes, `${path}.volumeMounts`),
    ...validateDevices(container, volumes, `${path}.volumeDevices`),
    ...validateRequiredOneOf(`${path}.imagePullPolicy`, container.imagePullPolicy, PULL_POLICIES),
    ...validateResources(resources, `${path}.resources`, { podClaims }),
    ...validateResizePolicy(resizePolicy, spec.restartPolicy, `${path}.resizePolicy`),
    ...validateContainerSecurity(container, spec, `${path}.securityContext`),
  ];
}

function validatePorts(ports: readonly ContainerPort[], path: string): Problem[] {
  const names = new Set<string>();
  return ports.flatMap(({ name = '', containerPort, hostPort = 0, protocol = '' }, index) => {
    const itemPath = `${path}[${index}]`;
    return [
      ...(name === '' ? [] : validatePortName(name, names, `${itemPath}.name`)),
      ...(containerPort === 0
        ? [required(`${itemPath}.containerPort`)]
        : validatePortNumber(`${itemPath}.containerPort`, containerPort)),
      ...(hostPort === 0 ? [] : validatePortNumber(`${itemPath}.hostPort`, hostPort)),
      ...validateRequiredOneOf(`${itemPath}.protocol`, protocol, ['SCTP', 'TCP', 'UDP']),
    ];
  });
}

function validatePortName(name: string, names: Set<string>, path: string): Problem[] {
  const problems = allInvalid(path, name, portNameProblems(name));
  if (problems.length > 0) return problems;
  if (names.has(name)) return [duplicate(path, name)];
  names.add(name);
  return [];
}

/** Reports host ports that more than one container uses. */
function validateUniqueHostPorts(containers: readonly Container[], path: string): Problem[] {
  const hostPortKeys = new Set<string>();
  return containers.flatMap(({ ports = [] }, index) =>
    ports.flatMap(({ protocol = '', hostIP = '', hostPort = 0 }, position) => {
      const key = `${protocol}/${hostIP}/${hostPort}`;
      if (hostPort === 0 || !hostPortKeys.has(key)) {
        hostPortKeys.add(key);
        return [];
      }
      return [duplicate(`${path}[${index}].ports[${position}].hostPort`, key)];
    }),
  );
}

const MAX_RESTART_RULES = 20;
const MAX_EXIT_CODES = 255;

/**
 * Validates the restart rules of an init container. If the container has rules but no restart policy, only the missing
 * policy is reported, as in Kubernetes.
 */
const validateInitRestartRules = (container: Container, path: string): Problem[] =>
  container.restartPolicy === undefined
    ? missingPolicyProblems(container, path)
    : validateRestartRules(container, path);

const missingPolicyProblems = (
  { restartPolicy, restartPolicyRules: rules = [] }: Container,
  path: string,
): Problem[] =>
  restartPolicy === undefined && rules.length > 0
    ? [required(`${path}.restartPolicy`, 'must specify restartPolicy when restart rules are used')]
    : [];

function validateRestartRules(container: Container, path: string): Problem[] {
  const { restartPolicy, restartPolicyRules: rules = [] } = container;
  const fieldPath = `${path}.restartPolicy`;
  return [
    ...missingPolicyProblems(container, path),
    ...validateOneOf(fieldPath, restartPolicy, ['Always', 'Never', 'OnFailure']),
    ...(rules.length > MAX_RESTART_RULES
      ? [tooMany(`${path}.restartPolicyRules`, rules.length, MAX_RESTART_RULES)]
      : []),
    ...rules.flatMap((rule, index) => validateRestartRule(rule, `${path}.restartPolicyRules[${index}]`)),
  ];
}

type RestartRule = NonNullable<Container['restartPolicyRules']>[number];

function validateRestartRule({ action, exitCodes }: RestartRule, path: string): Problem[] {
  return [
    ...validateOneOf(`${path}.action`, action, ['Restart', 'RestartAllContainers']),
    ...(exitCodes === undefined
      ? [required(`${path}.exitCodes`, 'must be specified')]
      : validateExitCodes(exitCodes, `${path}.exitCodes`)),
  ];
}

function validateExitCodes({ operator, values = [] }: NonNullable<RestartRule['exitCodes']>, path: string): Problem[] {
  return [
    ...validateOneOf(`${path}.operator`, operator, ['In', 'NotIn']),
    ...(values.length > MAX_EXIT_CODES ? [tooMany(`${path}.values`, values.length, MAX_EXIT_CODES)] : []),
  ];
}
