import { expect, test } from '@jest/globals';
import { ClusterServices } from '../../../actors/cluster/services.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { podWith } from '../../fakes/pods.ts';
import { watching } from '../../fakes/watching.ts';

const SERVICES = '/api/v1/namespaces/default/services';

function podOf(source: string): Pod {
  const pod = podWith('web');
  const annotations = { 'kubernetes.io/config.source': source };
  return { ...pod, metadata: { ...pod.metadata, namespace: 'default', annotations } };
}

test('an API server pod waits until the services are known, and a static pod starts without them', () => {
  const services = new ClusterServices();
  expect(() => services.serviceVariables(podOf('api'))).toThrow(
    expect.objectContaining({
      reason: 'CreateContainerConfigError',
      message: 'services have not yet been read at least once, cannot construct envvars',
    }),
  );
  expect(services.serviceVariables(podOf('file'))).toEqual({});
  services.replaceAll([]);
  expect(services.serviceVariables(podOf('api'))).toEqual({});
});

test('service variables appear and disappear with the services at the API server', async () => {
  const { clock, ask, services, stop } = watching();
  await clock.advance(0);
  const variable = () => services.serviceVariables(podOf('api')).DB_SERVICE_PORT_SQL;
  expect(variable()).toBeUndefined();
  await ask('POST', SERVICES, { metadata: { name: 'db' }, spec: { ports: [{ name: 'sql', port: 5432 }] } });
  await clock.advance(0);
  expect(variable()).toBe('5432');
  expect(services.serviceVariables(podOf('file'))).toHaveProperty('DB_PORT_5432_TCP_PROTO', 'tcp');
  await ask('DELETE', `${SERVICES}/db`);
  await clock.advance(0);
  expect(variable()).toBeUndefined();
  await stop();
});

test('a service without a cluster IP yields no variables', async () => {
  const { clock, ask, services, errors, stop } = watching();
  await clock.advance(0);
  const ports = [{ port: 80 }];
  await ask('POST', SERVICES, { metadata: { name: 'headless' }, spec: { clusterIP: 'None', ports } });
  await ask('POST', SERVICES, { metadata: { name: 'out' }, spec: { type: 'ExternalName', externalName: 'a.example' } });
  await clock.advance(0);
  expect(Object.keys(services.serviceVariables(podOf('api'))).filter((name) => /^(HEADLESS|OUT)_/.test(name))).toEqual(
    [],
  );
  expect(errors).toEqual([]);
  await stop();
});
