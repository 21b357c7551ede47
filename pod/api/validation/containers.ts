import { containersOf, type PlacedContainer } from '../containers.ts';
import type { Problem } from '../problem.ts';
import type { Container, ContainerPort } from '../schema/container.ts';
import type { PodSpec } from '../schema/pod.ts';
import { validateEnv, validateEnvFrom } from './env.ts';
import { isPortName, PORT_NAME_RULE, validateHandlers } from './handlers.ts';
import { validateResources } from './resources.ts';
import { validateMounts } from './volumes.ts';
import { dnsLabel, duplicates, forbidden, invalid, portNumber, required, tooMany } from './words.ts';

/** All containers of a pod, and what must be unique among them: names and host ports. */
export function validateContainers(spec: PodSpec): Problem[] {
  const placed = containersOf(spec);
  const pathOf = (index: number) => {
    const at = placed[index];
    return at === undefined ? 'spec' : `spec.${at.field}[${at.index}]`;
  };
  return [
    ...(spec.containers.length === 0 ? [required('spec.containers')] : []),
    ...placed.flatMap((each, index) => validateContainer(each, spec, pathOf(index))),
    ...duplicates(
      placed.map(({ container }) => container.name),
      (index) => `${pathOf(index)}.name`,
    ),
    ...validateHostPorts(placed),
  ];
}

/** Which signals there are depends on the operating system. */
function validateStopSignal({ lifecycle }: Container, { os }: PodSpec, path: string): Problem[] {
  if (lifecycle?.stopSignal === undefined || os !== undefined) return [];
  return [forbidden(`${path}.lifecycle.stopSignal`, 'may not be set for containers with empty `spec.os.name`')];
}

function validateContainer({ container, role }: PlacedContainer, spec: PodSpec, path: string): Problem[] {
  return [
    ...dnsLabel(`${path}.name`, container.name),
    ...validateImage(container.image, `${path}.image`),
    ...validatePorts(container.ports ?? [], `${path}.ports`),
    ...validateEnv(container.env ?? [], `${path}.env`),
    ...validateEnvFrom(container.envFrom ?? [], `${path}.envFrom`),
    ...validateResources(container.resources, `${path}.resources`),
    ...validateMounts(container, spec.volumes ?? [], path),
    ...validateHandlers(container, role, path),
    ...validateStopSignal(container, spec, path),
    ...validateRestartRules(container, path),
  ];
}

function validateImage(image: string, path: string): Problem[] {
  if (image === '') return [required(path)];
  return image === image.trim() ? [] : [invalid(path, image, 'must not have leading or trailing whitespace')];
}

function validatePorts(ports: readonly ContainerPort[], path: string): Problem[] {
  const names = ports.map(({ name }) => name ?? '');
  return [
    ...duplicates(names, (index) => `${path}[${index}].name`),
    ...ports.flatMap(({ name, containerPort, hostPort }, index) => [
      ...(name && !isPortName(name) ? [invalid(`${path}[${index}].name`, name, PORT_NAME_RULE)] : []),
      ...portNumber(`${path}[${index}].containerPort`, containerPort),
      // A hostPort of 0 is none.
      ...(hostPort ? portNumber(`${path}[${index}].hostPort`, hostPort) : []),
    ]),
  ];
}

function validateHostPorts(placed: readonly PlacedContainer[]): Problem[] {
  const ports = placed
    .filter(({ role }) => role !== 'init')
    .flatMap(({ container, field, index }) =>
      (container.ports ?? []).map((port, at) => ({ port, path: `spec.${field}[${index}].ports[${at}].hostPort` })),
    )
    .filter(({ port }) => port.hostPort);
  const keys = ports.map(({ port }) => `${port.protocol ?? 'TCP'}/${port.hostIP ?? ''}/${port.hostPort}`);
  return duplicates(keys, (index) => ports[index]?.path ?? 'spec');
}

function validateRestartRules(container: Container, path: string): Problem[] {
  const rules = container.restartPolicyRules ?? [];
  if (rules.length === 0) return [];
  return [
    ...(container.restartPolicy === undefined
      ? [required(`${path}.restartPolicy`, 'must specify restartPolicy when restart rules are used')]
      : []),
    ...(rules.length > 20 ? [tooMany(`${path}.restartPolicyRules`, rules.length, 20)] : []),
    ...rules.flatMap((rule, index) => validateRestartRule(rule, `${path}.restartPolicyRules[${index}]`)),
  ];
}

type RestartRule = NonNullable<Container['restartPolicyRules']>[number];

function validateRestartRule({ exitCodes }: RestartRule, path: string): Problem[] {
  if (exitCodes === undefined) return [required(`${path}.exitCodes`, 'must be specified')];
  const { values = [] } = exitCodes;
  const at = `${path}.exitCodes.values`;
  return [
    ...(values.length === 0 ? [invalid(at, values, 'must have at least 1 value')] : []),
    ...(values.length > 255 ? [tooMany(at, values.length, 255)] : []),
    ...duplicates(values.map(String), (index) => `${at}[${index}]`),
  ];
}
