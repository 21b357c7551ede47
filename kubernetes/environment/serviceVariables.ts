/**
 * Computes the environment variables that contain the addresses of services (`envvars/envvars.go` and `kubelet_pods.go`
 * of the kubelet).
 */

/** Parts of a Service that determine its environment variables. */
export interface ServiceAddress {
  readonly namespace: string;
  readonly name: string;
  /** Empty or `None` if the Service has no cluster IP. */
  readonly clusterIp: string;
  readonly ports: readonly ServicePort[];
}

interface ServicePort {
  readonly name?: string;
  readonly port: number;
  /** Protocol in the notation of a Service, e.g. `TCP`. */
  readonly protocol: string;
}

/** The pod's namespace, and whether the pod gets environment variables for the services of that namespace. */
interface LinkSettings {
  readonly namespace: string;
  readonly enableServiceLinks: boolean;
}

const HEADLESS_IP = 'None';
/** Service of the API server. Every container gets the environment variables of this service. */
const API_SERVER_SERVICE = { namespace: 'default', name: 'kubernetes' };

/**
 * Returns the environment variables for the API server and, with `enableServiceLinks`, for all services of the pod's
 * namespace. If names conflict, the service of the pod's namespace takes precedence.
 */
export function serviceVariables(
  services: Iterable<ServiceAddress>,
  { namespace, enableServiceLinks }: LinkSettings,
): Readonly<Record<string, string>> {
  const apiServerServices: ServiceAddress[] = [];
  const namespaceServices = new Map<string, ServiceAddress>();
  for (const service of services) {
    if (service.clusterIp === '' || service.clusterIp === HEADLESS_IP) continue;
    if (service.namespace === API_SERVER_SERVICE.namespace && service.name === API_SERVER_SERVICE.name)
      apiServerServices.push(service);
    else if (enableServiceLinks && service.namespace === namespace) namespaceServices.set(service.name, service);
  }
  const linkedServices = new Map([
    ...apiServerServices.map((service) => [service.name, service] as const),
    ...namespaceServices,
  ]);
  return Object.fromEntries([...linkedServices.values()].flatMap(variablesOf));
}

type EnvPair = readonly [name: string, value: string];

function variablesOf({ name, clusterIp, ports }: ServiceAddress): EnvPair[] {
  const [firstPort] = ports;
  if (firstPort === undefined) return [];
  const prefix = toVariableName(name);
  return [
    [`${prefix}_SERVICE_HOST`, clusterIp],
    [`${prefix}_SERVICE_PORT`, String(firstPort.port)],
    ...ports.flatMap(({ name: port, port: portNumber }): EnvPair[] =>
      port ? [[`${prefix}_SERVICE_PORT_${toVariableName(port)}`, String(portNumber)]] : [],
    ),
    [`${prefix}_PORT`, formatUrl(firstPort, clusterIp)],
    ...ports.flatMap((port) => dockerLinkVariables(prefix, port, clusterIp)),
  ];
}

/** Returns environment variables in the format of Docker container links. */
function dockerLinkVariables(prefix: string, port: ServicePort, clusterIp: string): EnvPair[] {
  const linkPrefix = `${prefix}_PORT_${port.port}_${port.protocol.toUpperCase()}`;
  return [
    [linkPrefix, formatUrl(port, clusterIp)],
    [`${linkPrefix}_PROTO`, port.protocol.toLowerCase()],
    [`${linkPrefix}_PORT`, String(port.port)],
    [`${linkPrefix}_ADDR`, clusterIp],
  ];
}

/** Formats a URL such as `tcp://10.96.0.1:443`. */
const formatUrl = ({ port, protocol }: ServicePort, address: string): string =>
  `${protocol.toLowerCase()}://${address.includes(':') ? `[${address}]` : address}:${port}`;

const toVariableName = (name: string): string => name.replaceAll('-', '_').toUpperCase();
