import { describe, expect, test } from '@jest/globals';
import { compileInspect } from '../../../../node/config/compile/inspectAddress.ts';
import { ConfigError } from '../../../../node/config/configError.ts';
import { parseConfigFile } from '../../../../node/config/files/readFile.ts';
import { readFlags } from '../../../../node/config/flags.ts';
import { settingValues } from '../../../../node/config/settings/settingValues.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

const inspect = (address?: string, yaml = '') =>
  compileInspect(
    settingValues({
      flags: readFlags(address === undefined ? {} : { '--inspect-address': address }),
      file: parseConfigFile('/etc/statelet/k.yaml', head + yaml).config,
    }),
  ).inspect;

const TLS = 'tlsCertFile: cert.pem\ntlsPrivateKeyFile: /keys/key.pem';

describe('the address of the page', () => {
  test('is loopback by default, and absent if it is set to an empty string', () => {
    expect(inspect()).toEqual({ address: { host: '127.0.0.1', port: 10_270 }, isOpen: false });
    expect(inspect('[::1]:0', TLS)).toEqual({ address: { host: '::1', port: 0 }, isOpen: false });
    expect(inspect('')).toBeUndefined();
  });

  test('is open without a token only on request, and never to other hosts', () => {
    expect(inspect('127.0.0.1:0?open')).toEqual({ address: { host: '127.0.0.1', port: 0 }, isOpen: true });
    expect(() => inspect('0.0.0.0:10270?open', TLS)).toThrow(ConfigError);
    expect(() => inspect('0.0.0.0:10270?open', TLS)).toThrow(
      '--inspect-address 0.0.0.0:10270?open: "?open" is only for an address that no other host reaches, such as 127.0.0.1',
    );
  });

  test('is reachable from other hosts only with TLS, whose files the configuration names', () => {
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
