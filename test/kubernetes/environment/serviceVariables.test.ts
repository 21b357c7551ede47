import { describe, expect, test } from '@jest/globals';
import { type ServiceAddress, serviceVariables } from '../../../kubernetes/environment/serviceVariables.ts';

const service = (name: string, more: Partial<ServiceAddress> = {}): ServiceAddress => ({
  namespace: 'default',
  name,
  clusterIp: '10.0.0.7',
  ports: [{ port: 80, protocol: 'TCP' }],
  ...more,
});
const MASTER = service('kubernetes', {
  clusterIp: '10.0.0.1',
  ports: [{ name: 'https', port: 443, protocol: 'TCP' }],
});
const namesOf = (services: readonly ServiceAddress[], namespace = 'default', enableServiceLinks = true) =>
  Object.keys(serviceVariables(services, { namespace, enableServiceLinks })).filter((name) => name.endsWith('_HOST'));

test('a service sets variables for its address, its ports and their names, and those of container links', () => {
  const db = service('db-main', {
    ports: [
      { name: 'sql', port: 5432, protocol: 'TCP' },
      { name: 'dns-udp', port: 53, protocol: 'UDP' },
    ],
  });
  expect(serviceVariables([db], { namespace: 'default', enableServiceLinks: true })).toEqual({
    DB_MAIN_SERVICE_HOST: '10.0.0.7',
    DB_MAIN_SERVICE_PORT: '5432',
    DB_MAIN_SERVICE_PORT_SQL: '5432',
    DB_MAIN_SERVICE_PORT_DNS_UDP: '53',
    DB_MAIN_PORT: 'tcp://10.0.0.7:5432',
    DB_MAIN_PORT_5432_TCP: 'tcp://10.0.0.7:5432',
    DB_MAIN_PORT_5432_TCP_PROTO: 'tcp',
    DB_MAIN_PORT_5432_TCP_PORT: '5432',
    DB_MAIN_PORT_5432_TCP_ADDR: '10.0.0.7',
    DB_MAIN_PORT_53_UDP: 'udp://10.0.0.7:53',
    DB_MAIN_PORT_53_UDP_PROTO: 'udp',
    DB_MAIN_PORT_53_UDP_PORT: '53',
    DB_MAIN_PORT_53_UDP_ADDR: '10.0.0.7',
  });
});

test('an IPv6 address before a port is in brackets', () => {
  const six = service('web', { clusterIp: 'fd00::7' });
  expect(serviceVariables([six], { namespace: 'default', enableServiceLinks: true })).toMatchObject({
    WEB_SERVICE_HOST: 'fd00::7',
    WEB_PORT: 'tcp://[fd00::7]:80',
    WEB_PORT_80_TCP_ADDR: 'fd00::7',
  });
});

describe('the variables of a container', () => {
  const all = [MASTER, service('web'), service('db', { namespace: 'shop' })];

  test('include the services of its namespace and the API server', () => {
    expect(namesOf(all)).toEqual(['KUBERNETES_SERVICE_HOST', 'WEB_SERVICE_HOST']);
    expect(namesOf(all, 'shop')).toEqual(['KUBERNETES_SERVICE_HOST', 'DB_SERVICE_HOST']);
  });

  test('include only the API server without service links', () => {
    expect(namesOf(all, 'default', false)).toEqual(['KUBERNETES_SERVICE_HOST']);
    expect(namesOf(all, 'shop', false)).toEqual(['KUBERNETES_SERVICE_HOST']);
  });

  test("include a service named kubernetes in the pod's namespace instead of the API server, with service links", () => {
    const own = service('kubernetes', { namespace: 'shop', clusterIp: '10.0.0.9' });
    const hostIn = (services: readonly ServiceAddress[], enableServiceLinks: boolean) =>
      serviceVariables(services, { namespace: 'shop', enableServiceLinks }).KUBERNETES_SERVICE_HOST;
    for (const order of [
      [MASTER, own],
      [own, MASTER],
    ]) {
      expect([hostIn(order, true), hostIn(order, false)]).toEqual(['10.0.0.9', '10.0.0.1']);
    }
  });

  test('exclude services without an address or ports', () => {
    const without = [
      service('headless', { clusterIp: 'None' }),
      service('external', { clusterIp: '' }),
      service('portless', { ports: [] }),
    ];
    expect(serviceVariables(without, { namespace: 'default', enableServiceLinks: true })).toEqual({});
  });
});

test('a service may have any name', () => {
  const odd = serviceVariables([service('__proto__')], { namespace: 'default', enableServiceLinks: true });
  expect(Object.keys(odd)).toContain('__PROTO___SERVICE_HOST');
  expect(Object.getPrototypeOf(odd)).toBe(Object.prototype);
});
