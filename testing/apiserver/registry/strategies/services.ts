/** Strategies of services, including address and port allocation (`registry/core/service` of kubernetes). */

import { isJsonEqual } from '../../../../base/values/isJsonEqual.ts';
import { lookUp } from '../../../../base/values/lookUp.ts';
import { dnsLabelProblems } from '../../../../kubernetes/api/validation/metadata/nameRules.ts';
import { invalidValue, required } from '../../failures/causes.ts';
import type { Cause } from '../../failures/failures.ts';
import { type JsonObject, numberAt, textAt } from '../../json.ts';
import { plainStrategy, type RegistryContext, type Strategy, withSelectors } from '../strategy.ts';
import { listAt, objectsAt, specOf, withFields, withFieldsOf } from './parts.ts';

const NONE = 'None';
/** The ranges from which addresses and ports are allocated: 10.0.0.0/22 and 30000 to 32767. */
const NETWORKS = ['10.0.0.', '10.0.1.', '10.0.2.', '10.0.3.'] as const;
const HOSTS = { first: 2, last: 254 } as const;
const NODE_PORTS = { first: 30_000, last: 32_767 } as const;

function defaulted(service: JsonObject): JsonObject {
  const spec = specOf(service);
  const type = textAt(spec, 'type') || 'ClusterIP';
  const isExternal = type === 'ExternalName';
  const ports = objectsAt(spec, 'ports').map((port) => {
    const target = lookUp(port, 'targetPort');
    const targetPort = target === undefined || target === 0 || target === '' ? (lookUp(port, 'port') ?? 0) : target;
    return { ...port, protocol: textAt(port, 'protocol') || 'TCP', targetPort };
  });
  return {
    ...service,
    spec: withFields(spec, {
      type,
      sessionAffinity: textAt(spec, 'sessionAffinity') || NONE,
      ...(ports.length > 0 ? { ports } : {}),
      ...(isExternal ? {} : { internalTrafficPolicy: textAt(spec, 'internalTrafficPolicy') || 'Cluster' }),
      ...(type === 'NodePort' || type === 'LoadBalancer' ? { externalTrafficPolicy: 'Cluster' } : {}),
    }),
  };
}

function created(service: JsonObject, { store }: RegistryContext): JsonObject {
  const spec = specOf(service);
  const status = { loadBalancer: {} };
  const type = textAt(spec, 'type');
  if (type === 'ExternalName') return { ...service, status };
  const others = store.list('/services').map(([, other]) => specOf(other));
  const isHeadless = textAt(spec, 'clusterIP') === NONE;
  const clusterIP = textAt(spec, 'clusterIP') || freeAddress(others);
  const isBlind = isHeadless && lookUp(spec, 'selector') === undefined;
  const addressed = withFields(spec, {
    clusterIP,
    clusterIPs: [clusterIP],
    ipFamilies: isBlind ? ['IPv4', 'IPv6'] : ['IPv4'],
    ipFamilyPolicy: isBlind ? 'RequireDualStack' : 'SingleStack',
    ...(type === 'NodePort' || type === 'LoadBalancer' ? { ports: withNodePorts(spec, others) } : {}),
  });
  return { ...service, spec: addressed, status };
}

function freeAddress(others: readonly JsonObject[]): string {
  const taken = new Set(others.map((spec) => textAt(spec, 'clusterIP')));
  for (const network of NETWORKS) {
    for (let host: number = HOSTS.first; host <= HOSTS.last; host += 1)
      if (!taken.has(network + host)) return network + host;
  }
  throw new Error('all addresses of 10.0.0.0/22 are taken');
}

function withNodePorts(spec: JsonObject, others: readonly JsonObject[]): JsonObject[] {
  const taken = new Set(others.flatMap((other) => objectsAt(other, 'ports').map((port) => numberAt(port, 'nodePort'))));
  return objectsAt(spec, 'ports').map((port) => {
    if (numberAt(port, 'nodePort') !== undefined) return port;
    let free: number = NODE_PORTS.first;
    while (taken.has(free) && free < NODE_PORTS.last) free += 1;
    taken.add(free);
    return { ...port, nodePort: free };
  });
}

function serviceCauses(service: JsonObject): Cause[] {
  const spec = specOf(service);
  const ports = objectsAt(spec, 'ports');
  const unnamed = ports.flatMap((port, index) =>
    ports.length > 1 && textAt(port, 'name') === '' ? [required(`spec.ports[${index}].name`)] : [],
  );
  const address = textAt(spec, 'clusterIP');
  const isForeign = address !== '' && address !== NONE && !NETWORKS.some((network) => address.startsWith(network));
  const why = `failed to allocate IP ${address}: the provided network does not match the current range`;
  return [...unnamed, ...(isForeign ? [invalidValue('spec.clusterIPs', [address], why)] : [])];
}

/** A changed `clusterIP` replaces the list `clusterIPs`. */
function updated(service: JsonObject, before: JsonObject): JsonObject {
  const [spec, had] = [specOf(service), specOf(before)];
  const address = textAt(spec, 'clusterIP');
  const isChanged = address !== textAt(had, 'clusterIP');
  const kept = isChanged ? withFields(spec, { clusterIPs: [address] }) : spec;
  return withFieldsOf({ ...service, spec: kept }, before, ['status']);
}

const KEPT = 'may not change once set';

export const serviceStrategy: Strategy = {
  ...plainStrategy,
  ...withSelectors([
    ['spec.clusterIP', (service) => textAt(specOf(service), 'clusterIP')],
    ['spec.type', (service) => textAt(specOf(service), 'type')],
  ]),
  nameRule: dnsLabelProblems,
  defaulted,
  created,
  updated,
  createCauses: serviceCauses,
  updateCauses: (service, before) => {
    const [own, had] = [listAt(specOf(service), 'clusterIPs'), listAt(specOf(before), 'clusterIPs')];
    return isJsonEqual(own, had) ? serviceCauses(service) : [invalidValue('spec.clusterIPs[0]', own, KEPT)];
  },
  returnsDeleted: true,
};

export const serviceStatusStrategy: Strategy = {
  ...serviceStrategy,
  updated: (service, before) => withFieldsOf(service, before, ['spec']),
  updateCauses: () => [],
};
