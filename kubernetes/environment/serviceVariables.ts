/** The variables that tell a container where services are (`envvars/envvars.go`, `kubelet_pods.go` of the kubelet). */

/** As much of a Service as its variables need. */
export interface ServiceAddress {
  readonly namespace: string;
  readonly name: string;
  /** Empty, or None, where it has no address of its own. */
  readonly clusterIp: string;
  readonly ports: readonly ServicePort[];
}

interface ServicePort {
  readonly name?: string;
  readonly port: number;
  /** As a Service has it: `TCP` */
  readonly protocol: string;
}

/** Whose variables: its namespace, and whether it wants those of the services in there. */
interface Linked {
  readonly namespace: string;
  readonly enableServiceLinks: boolean;
}

const NONE = 'None';
/** The API server itself, which every container is told of. */
const MASTER = { namespace: 'default', name: 'kubernetes' };

/** Of the API server always; of all services of the pod's namespace where it wants their links, and then they win. */
export function serviceVariables(
  services: Iterable<ServiceAddress>,
  { namespace, enableServiceLinks }: Linked,
): Readonly<Record<string, string>> {
  const masters: ServiceAddress[] = [];
  const own = new Map<string, ServiceAddress>();
  for (const service of services) {
    if (service.clusterIp === '' || service.clusterIp === NONE) continue;
    if (service.namespace === MASTER.namespace && service.name === MASTER.name) masters.push(service);
    else if (enableServiceLinks && service.namespace === namespace) own.set(service.name, service);
  }
  const found = new Map([...masters.map((service) => [service.name, service] as const), ...own]);
  return Object.fromEntries([...found.values()].flatMap(variablesOf));
}

type Variable = readonly [name: string, value: string];

function variablesOf({ name, clusterIp, ports }: ServiceAddress): Variable[] {
  const [first] = ports;
  if (first === undefined) return [];
  const prefix = upper(name);
  return [
    [`${prefix}_SERVICE_HOST`, clusterIp],
    [`${prefix}_SERVICE_PORT`, String(first.port)],
    ...ports.flatMap(({ name: port, port: number }): Variable[] =>
      port ? [[`${prefix}_SERVICE_PORT_${upper(port)}`, String(number)]] : [],
    ),
    [`${prefix}_PORT`, urlOf(first, clusterIp)],
    ...ports.flatMap((port) => linkOf(prefix, port, clusterIp)),
  ];
}

/** As containers were once told of those that they were linked to. */
function linkOf(prefix: string, port: ServicePort, clusterIp: string): Variable[] {
  const link = `${prefix}_PORT_${port.port}_${port.protocol.toUpperCase()}`;
  return [
    [link, urlOf(port, clusterIp)],
    [`${link}_PROTO`, port.protocol.toLowerCase()],
    [`${link}_PORT`, String(port.port)],
    [`${link}_ADDR`, clusterIp],
  ];
}

/** `tcp://10.96.0.1:443` */
const urlOf = ({ port, protocol }: ServicePort, address: string): string =>
  `${protocol.toLowerCase()}://${address.includes(':') ? `[${address}]` : address}:${port}`;

const upper = (name: string): string => name.replaceAll('-', '_').toUpperCase();
