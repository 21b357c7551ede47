import { defaultPullPolicy } from '../images/pullPolicy.ts';
import { lookUp } from '../lookUp.ts';
import { aggregate } from '../resources/resources.ts';
import { containersOf } from './containers.ts';
import { defaultVolume } from './defaultVolumes.ts';
import { formatQuantity } from './quantity.ts';
import type { Container, EnvVar, LifecycleHandler, Probe, ResourceRequirements } from './schema/container.ts';
import type { PodSpec } from './schema/pod.ts';

/** Fills in what the API server would: a pod or manifest as before, with the defaults of v1 where it says nothing. */
export function withDefaults<T extends { spec: PodSpec }>(pod: T): T {
  const { spec } = pod;
  const containers = (list: Container[]) => list.map((each) => defaultContainer(each, spec.hostNetwork ?? false));
  const filled: PodSpec = {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    enableServiceLinks: true,
    securityContext: {},
    ...spec,
    ...(spec.volumes && { volumes: spec.volumes.map(defaultVolume) }),
    ...(spec.initContainers && { initContainers: containers(spec.initContainers) }),
    containers: containers(spec.containers),
    ...(spec.ephemeralContainers && { ephemeralContainers: spec.ephemeralContainers.map(defaultEphemeral) }),
  };
  return { ...pod, spec: { ...filled, ...(filled.resources && { resources: defaultPodResources(filled) }) } };
}

function defaultContainer(container: Container, hostNetwork: boolean): Container {
  const { ports, env, resources, livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
  return {
    imagePullPolicy: defaultPullPolicy(container.image),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    ...container,
    resources: defaultResources(resources ?? {}),
    ...(ports && {
      ports: ports.map((port) => ({
        protocol: 'TCP' as const,
        ...port,
        ...(hostNetwork && !port.hostPort && { hostPort: port.containerPort }),
      })),
    }),
    ...(env && { env: env.map(defaultEnv) }),
    ...(livenessProbe && { livenessProbe: defaultProbe(livenessProbe) }),
    ...(readinessProbe && { readinessProbe: defaultProbe(readinessProbe) }),
    ...(startupProbe && { startupProbe: defaultProbe(startupProbe) }),
    ...(lifecycle && {
      lifecycle: {
        ...lifecycle,
        ...(lifecycle.postStart && { postStart: defaultHandler(lifecycle.postStart) }),
        ...(lifecycle.preStop && { preStop: defaultHandler(lifecycle.preStop) }),
      },
    }),
  };
}

type EphemeralContainer = NonNullable<PodSpec['ephemeralContainers']>[number];

const defaultEphemeral = (container: EphemeralContainer): EphemeralContainer => ({
  imagePullPolicy: defaultPullPolicy(container.image),
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  ...container,
});

function defaultProbe(probe: Probe): Probe {
  return {
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
    ...defaultHandler(probe),
    ...(probe.grpc && { grpc: { service: '', ...probe.grpc } }),
  };
}

function defaultHandler<T extends Pick<LifecycleHandler, 'httpGet'>>(handler: T): T {
  const { httpGet } = handler;
  if (httpGet === undefined) return handler;
  return { ...handler, httpGet: { path: '/', scheme: 'HTTP', ...httpGet } };
}

function defaultEnv(env: EnvVar): EnvVar {
  const { valueFrom } = env;
  if (valueFrom?.fieldRef === undefined) return env;
  return { ...env, valueFrom: { ...valueFrom, fieldRef: { apiVersion: 'v1', ...valueFrom.fieldRef } } };
}

/** A resource that is limited and not asked for is asked for up to its limit. */
function defaultResources(resources: ResourceRequirements): ResourceRequirements {
  if (resources.limits === undefined) return resources;
  return { ...resources, requests: { ...resources.limits, ...resources.requests } };
}

/** A pod's own requests, where it has limits: what its containers ask for, else the limit. */
function defaultPodResources(spec: PodSpec): ResourceRequirements {
  const resources = spec.resources ?? {};
  const asked = Object.keys(resources.limits ?? {})
    .filter((resource) => containersOf(spec).some(({ container }) => lookUp(container.resources?.requests, resource)))
    .map((resource) => [resource, quantityOf(aggregate(spec, 'requests', resource), resource)]);
  const requests: Record<string, string> = Object.fromEntries(asked);
  return defaultResources({ ...resources, requests: { ...requests, ...resources.requests } });
}

function quantityOf(amount: number, resource: string): string {
  const nanos = BigInt(amount) * (resource === 'cpu' ? 1_000_000n : 1_000_000_000n);
  return formatQuantity(nanos, resource === 'cpu' ? 'decimal' : 'binary');
}
