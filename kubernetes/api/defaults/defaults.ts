/**
 * Applies the v1 defaults (`pkg/apis/core/v1/defaults.go` and `zz_generated.defaults.go`) to manifests, API objects and
 * pods of the test API server. Go does not distinguish an empty string or 0 from a missing field unless the field is a
 * pointer, so a non-pointer field with such a value is also set to its default.
 */

import { lookUp } from '../../../base/values/lookUp.ts';
import { defaultPullPolicy } from '../../images/pullPolicy.ts';
import { aggregateNanos } from '../../resources/resources.ts';
import { containersOf } from '../pods/containers.ts';
import type { Container, EnvVar, LifecycleHandler, Probe, ResourceRequirements } from '../schema/container.ts';
import type { PodSpec } from '../schema/pod.ts';
import { isHugePages } from '../validation/resources/resourceNames.ts';
import { nanosOf, quantityLike } from '../values/quantity.ts';
import { defaultVolume, withApiVersion } from './defaultVolumes.ts';

/** Applies the defaults to a pod or manifest. */
export function withDefaults<T extends { spec: PodSpec }>(pod: T): T {
  const { spec } = pod;
  const withContainerDefaults = (list: Container[]) =>
    list.map((each) => defaultContainer(each, spec.hostNetwork ?? false));
  const { terminationGracePeriodSeconds: grace = 30 } = spec;
  const defaultedSpec: PodSpec = {
    enableServiceLinks: true,
    securityContext: {},
    ...spec,
    // Correct a negative value as the kubelet does when it converts a Pod to its internal version (`conversion.go`).
    terminationGracePeriodSeconds: grace < 0 ? 1 : grace,
    restartPolicy: spec.restartPolicy || 'Always',
    dnsPolicy: spec.dnsPolicy || 'ClusterFirst',
    schedulerName: spec.schedulerName || 'default-scheduler',
    ...(spec.volumes && { volumes: spec.volumes.map(defaultVolume) }),
    ...(spec.initContainers && { initContainers: withContainerDefaults(spec.initContainers) }),
    containers: withContainerDefaults(spec.containers),
    ...(spec.ephemeralContainers && { ephemeralContainers: spec.ephemeralContainers.map(defaultEphemeral) }),
  };
  return {
    ...pod,
    spec: { ...defaultedSpec, ...(defaultedSpec.resources && { resources: defaultPodResources(defaultedSpec) }) },
  };
}

function defaultContainer(container: Container, hostNetwork: boolean): Container {
  const { ports, resources } = container;
  return {
    ...withCommonDefaults(container),
    resources: defaultResources(resources ?? {}),
    ...(ports && {
      ports: ports.map((port) => ({
        ...port,
        protocol: port.protocol || 'TCP',
        ...(hostNetwork && !port.hostPort && { hostPort: port.containerPort }),
      })),
    }),
  };
}

type EphemeralContainer = NonNullable<PodSpec['ephemeralContainers']>[number];

/** Applies the defaults of an ephemeral container, whose requests do not default to its limits. */
function defaultEphemeral(container: EphemeralContainer): EphemeralContainer {
  const { ports } = container;
  return {
    ...withCommonDefaults(container),
    ...(ports && { ports: ports.map((port) => ({ ...port, protocol: port.protocol || 'TCP' })) }),
  };
}

function withCommonDefaults<T extends Container>(container: T): T {
  const { image, env, livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
  return {
    ...container,
    imagePullPolicy: container.imagePullPolicy || defaultPullPolicy(image),
    terminationMessagePath: container.terminationMessagePath || '/dev/termination-log',
    terminationMessagePolicy: container.terminationMessagePolicy || 'File',
    ...(env && { env: env.map(defaultEnv) }),
    ...(livenessProbe && { livenessProbe: applyProbeDefaults(livenessProbe) }),
    ...(readinessProbe && { readinessProbe: applyProbeDefaults(readinessProbe) }),
    ...(startupProbe && { startupProbe: applyProbeDefaults(startupProbe) }),
    ...(lifecycle && {
      lifecycle: {
        ...lifecycle,
        ...(lifecycle.postStart && { postStart: defaultHandler(lifecycle.postStart) }),
        ...(lifecycle.preStop && { preStop: defaultHandler(lifecycle.preStop) }),
      },
    }),
  };
}

function applyProbeDefaults(probe: Probe): Probe {
  return {
    ...defaultHandler(probe),
    timeoutSeconds: probe.timeoutSeconds || 1,
    periodSeconds: probe.periodSeconds || 10,
    successThreshold: probe.successThreshold || 1,
    failureThreshold: probe.failureThreshold || 3,
    ...(probe.grpc && { grpc: { service: '', ...probe.grpc } }),
  };
}

function defaultHandler<T extends Pick<LifecycleHandler, 'httpGet'>>(handler: T): T {
  const { httpGet } = handler;
  if (httpGet === undefined) return handler;
  return { ...handler, httpGet: { ...httpGet, path: httpGet.path || '/', scheme: httpGet.scheme || 'HTTP' } };
}

function defaultEnv(env: EnvVar): EnvVar {
  const { valueFrom } = env;
  if (valueFrom === undefined) return env;
  const { fieldRef, fileKeyRef } = valueFrom;
  return {
    ...env,
    valueFrom: {
      ...valueFrom,
      ...(fieldRef && { fieldRef: withApiVersion(fieldRef) }),
      ...(fileKeyRef && { fileKeyRef: { optional: false, ...fileKeyRef } }),
    },
  };
}

/** Sets missing requests to the limits. */
function defaultResources(resources: ResourceRequirements): ResourceRequirements {
  if (resources.limits === undefined) return resources;
  return { ...resources, requests: { ...resources.limits, ...resources.requests } };
}

/**
 * Applies the defaults of pod-level resources. A missing huge page limit becomes the sum of the container limits. If
 * the pod has limits, a missing request becomes the sum of the container requests, or else the limit.
 */
function defaultPodResources(spec: PodSpec): ResourceRequirements {
  const resources = withHugePageLimits(spec, spec.resources ?? {});
  const { limits = {}, requests = {} } = resources;
  if (Object.keys(limits).length === 0) return resources;
  const requestedNames = containerResourceNames(spec, 'requests').filter(
    (resource) => isPodLevelResource(resource) && !isHugePages(resource),
  );
  const sums = requestedNames.map((resource) => [resource, summedAmount(spec, 'requests', resource)] as const);
  return defaultResources({ ...resources, requests: { ...Object.fromEntries(sums), ...requests } });
}

function withHugePageLimits(spec: PodSpec, resources: ResourceRequirements): ResourceRequirements {
  const { limits = {}, requests = {} } = resources;
  if (Object.keys(limits).length + Object.keys(requests).length === 0) return resources;
  const limitedNames = containerResourceNames(spec, 'limits').filter(
    (resource) =>
      isHugePages(resource) && lookUp(requests, resource) === undefined && lookUp(limits, resource) === undefined,
  );
  if (limitedNames.length === 0) return resources;
  const sums = limitedNames.map((resource) => [resource, summedAmount(spec, 'limits', resource)] as const);
  return { ...resources, limits: { ...limits, ...Object.fromEntries(sums) } };
}

const isPodLevelResource = (resource: string): boolean => ['cpu', 'memory'].includes(resource) || isHugePages(resource);

function containerResourceNames(spec: PodSpec, kind: 'limits' | 'requests'): string[] {
  return [...new Set(containersOf(spec).flatMap(({ container }) => Object.keys(container.resources?.[kind] ?? {})))];
}

/**
 * Returns the sum of the containers' requests or limits of a resource, formatted like the first of these amounts that
 * is not zero.
 */
function summedAmount(spec: PodSpec, kind: 'limits' | 'requests', resource: string): string {
  const amounts = containersOf(spec).map(({ container }) => lookUp(container.resources?.[kind], resource));
  const firstAmount = amounts.find((amount) => amount !== undefined && nanosOf(amount) !== 0n) ?? '0';
  return quantityLike(aggregateNanos(spec, kind, resource), firstAmount);
}
