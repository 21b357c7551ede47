/**
 * The defaults of v1 (`pkg/apis/core/v1/defaults.go` and `zz_generated.defaults.go`), for manifests, for the objects of an
 * API server and for the test API server. In Go an empty text or a 0 is the same as a
 * missing field unless the field is a pointer, so such a field takes its default where it has that value.
 */

import { lookUp } from '../../base/lookUp.ts';
import { defaultPullPolicy } from '../images/pullPolicy.ts';
import { aggregateNanos } from '../resources/resources.ts';
import { containersOf } from './containers.ts';
import { defaultVolume, withVersion } from './defaultVolumes.ts';
import { nanosOf, quantityLike } from './quantity.ts';
import type { Container, EnvVar, LifecycleHandler, Probe, ResourceRequirements } from './schema/container.ts';
import type { PodSpec } from './schema/pod.ts';
import { isHugePages } from './validation/resourceNames.ts';

/** Fills in the defaults of a pod or manifest. */
export function withDefaults<T extends { spec: PodSpec }>(pod: T): T {
  const { spec } = pod;
  const containers = (list: Container[]) => list.map((each) => defaultContainer(each, spec.hostNetwork ?? false));
  const { terminationGracePeriodSeconds: grace = 30 } = spec;
  const filled: PodSpec = {
    enableServiceLinks: true,
    securityContext: {},
    ...spec,
    // The conversion of a Pod to its internal version does this (`conversion.go`).
    terminationGracePeriodSeconds: grace < 0 ? 1 : grace,
    restartPolicy: spec.restartPolicy || 'Always',
    dnsPolicy: spec.dnsPolicy || 'ClusterFirst',
    schedulerName: spec.schedulerName || 'default-scheduler',
    ...(spec.volumes && { volumes: spec.volumes.map(defaultVolume) }),
    ...(spec.initContainers && { initContainers: containers(spec.initContainers) }),
    containers: containers(spec.containers),
    ...(spec.ephemeralContainers && { ephemeralContainers: spec.ephemeralContainers.map(defaultEphemeral) }),
  };
  return { ...pod, spec: { ...filled, ...(filled.resources && { resources: defaultPodResources(filled) }) } };
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

/** An ephemeral container has no requests to be filled in from limits. */
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

function defaultProbe(probe: Probe): Probe {
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
      ...(fieldRef && { fieldRef: withVersion(fieldRef) }),
      ...(fileKeyRef && { fileKeyRef: { optional: false, ...fileKeyRef } }),
    },
  };
}

/** A resource that is limited without a request is requested up to its limit. */
function defaultResources(resources: ResourceRequirements): ResourceRequirements {
  if (resources.limits === undefined) return resources;
  return { ...resources, requests: { ...resources.limits, ...resources.requests } };
}

/** The resources of pod level: what containers request, else the limit; and the huge pages that containers may use. */
function defaultPodResources(spec: PodSpec): ResourceRequirements {
  const resources = withHugePageLimits(spec, spec.resources ?? {});
  const { limits = {}, requests = {} } = resources;
  if (Object.keys(limits).length === 0) return resources;
  const requested = resourcesOfContainers(spec, 'requests').filter(
    (resource) => isOfPodLevel(resource) && !isHugePages(resource),
  );
  const sums = requested.map((resource) => [resource, sumOf(spec, 'requests', resource)] as const);
  return defaultResources({ ...resources, requests: { ...Object.fromEntries(sums), ...requests } });
}

function withHugePageLimits(spec: PodSpec, resources: ResourceRequirements): ResourceRequirements {
  const { limits = {}, requests = {} } = resources;
  if (Object.keys(limits).length + Object.keys(requests).length === 0) return resources;
  const limited = resourcesOfContainers(spec, 'limits').filter(
    (resource) =>
      isHugePages(resource) && lookUp(requests, resource) === undefined && lookUp(limits, resource) === undefined,
  );
  if (limited.length === 0) return resources;
  const sums = limited.map((resource) => [resource, sumOf(spec, 'limits', resource)] as const);
  return { ...resources, limits: { ...limits, ...Object.fromEntries(sums) } };
}

const isOfPodLevel = (resource: string): boolean => ['cpu', 'memory'].includes(resource) || isHugePages(resource);

function resourcesOfContainers(spec: PodSpec, kind: 'limits' | 'requests'): string[] {
  return [...new Set(containersOf(spec).flatMap(({ container }) => Object.keys(container.resources?.[kind] ?? {})))];
}

/** The sum over the containers, in the format of the first addend. */
function sumOf(spec: PodSpec, kind: 'limits' | 'requests', resource: string): string {
  const amounts = containersOf(spec).map(({ container }) => lookUp(container.resources?.[kind], resource));
  const first = amounts.find((amount) => amount !== undefined && nanosOf(amount) !== 0n) ?? '0';
  return quantityLike(aggregateNanos(spec, kind, resource), first);
}
