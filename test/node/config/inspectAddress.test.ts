import { describe, expect, test } from '@jest/globals';
import { ConfigError } from '../../../node/config/configError.ts';
import { readFlags } from '../../../node/config/flags.ts';
import { inspectOf } from '../../../node/config/inspectAddress.ts';
import { parseConfigFile } from '../../../node/config/readFile.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

const inspect = (address?: string, yaml = '') =>
  inspectOf(
    readFlags(address === undefined ? {} : { '--inspect-address': address }),
    parseConfigFile('/etc/statelet/k.yaml', head + yaml).config,
  ).inspect;

const TLS = 'tlsCertFile: cert.pem\ntlsPrivateKeyFile: /keys/key.pem';

describe('where the page is served', () => {
  test('is this host alone unless told otherwise, and nowhere with an empty word', () => {
    expect(inspect()).toEqual({ address: { host: '127.0.0.1', port: 10_270 } });
    expect(inspect('[::1]:0', TLS)).toEqual({ address: { host: '::1', port: 0 } });
    expect(inspect('')).toBeUndefined();
  });

  test('is reached by others only with TLS, whose files the configuration names', () => {
    for (const address of ['0.0.0.0:10270', '[::]:10270', '192.0.2.1:10270', '[::ffff:192.0.2.1]:10270']) {
      for (const yaml of [
        '',
        'tlsCertFile: /cert.pem',
        'tlsPrivateKeyFile: /key.pem',
        'tlsCertFile: ""\ntlsPrivateKeyFile: /key.pem',
      ]) {
        expect(() => inspect(address, yaml)).toThrow(ConfigError);
        expect(() => inspect(address, yaml)).toThrow(
          `--inspect-address ${address}: an address that other hosts reach needs TLS: set tlsCertFile and tlsPrivateKeyFile`,
        );
      }
      expect(inspect(address, TLS)?.tls).toEqual({ certFile: '/etc/statelet/cert.pem', keyFile: '/keys/key.pem' });
    }
  });
});
