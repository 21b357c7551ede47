/** The table of settings is complete, and its values are repeated nowhere. */
import { describe, expect, test } from '@jest/globals';
import { compileValues } from '../../../../node/config/nodeConfig.ts';
import { allSettings, flagSettings } from '../../../../node/config/settings/allSettings.ts';
import { isField, isGroup, type SettingDefinition, type Settings } from '../../../../node/config/settings/setting.ts';
import { defaultInFile, defaultValue, settingValues } from '../../../../node/config/settings/settingValues.ts';
import { unsupportedFlags } from '../../../../node/config/settings/unsupportedFlags.ts';
import { productFiles } from '../../../support/tree.ts';
import { KUBELET_FIELDS, KUBELET_FLAGS } from './kubeletNames.ts';

interface Entry {
  readonly path: string;
  readonly setting: SettingDefinition;
}

/** Returns the settings with the paths of their fields. */
const settingsIn = (settings: Settings, path = ''): readonly Entry[] =>
  Object.entries(settings).flatMap(([name, entry]) =>
    isGroup(entry) ? settingsIn(entry.fields, `${path}${name}.`) : [{ path: `${path}${name}`, setting: entry }],
  );
const table: Settings = allSettings();
const settings = settingsIn(table);

describe('the table contains everything in a kubelet 1.36', () => {
  test('every field of KubeletConfiguration, while additional fields are marked as such', () => {
    const fields = settings.map(({ path }) => path).filter(isField);
    expect(fields).toEqual(expect.arrayContaining([...KUBELET_FIELDS]));
    const own = fields.filter((path) => !KUBELET_FIELDS.includes(path));
    expect(own).toEqual(['imagePullTimeout', 'slowImagePullAfter', 'draManagerReconcilePeriod']);
  });

  test('every flag, or the reason why it is missing', () => {
    // commander adds these.
    const ofCommands = ['--help', '--version'];
    const named = [
      ...flagSettings().map(({ name }) => name),
      ...unsupportedFlags().map(({ name }) => name),
      ...ofCommands,
    ];
    expect(named.toSorted()).toEqual([...new Set(named)].toSorted());
    expect(KUBELET_FLAGS.map((flag) => `--${flag}`).filter((flag) => !named.includes(flag))).toEqual([]);
    const missing = unsupportedFlags().map(({ name }) => name.slice(2));
    expect(missing.filter((flag) => !KUBELET_FLAGS.includes(flag))).toEqual([]);
  });
});

describe('each setting', () => {
  test.each(settings.filter(({ path }) => isField(path)))(
    '$path documents its effect, or why it has none',
    ({ path }) => {
      const [name = ''] = path.split('.');
      const texts = [table[name]?.effect, table[name]?.ignoredReason];
      expect(texts.filter((text) => text !== undefined)).toHaveLength(1);
    },
  );

  test.each(settings)('$path has a default of its own type', ({ setting }) => {
    for (const standalone of [true, false]) expect(() => defaultValue(setting, standalone)).not.toThrow();
  });
});

/** The settings whose values the compiled configuration does not contain, because the commands use the flags. */
const OF_COMMANDS = ['--config', '--take-over', '--state-dir', 'apiVersion', 'kind'];

test('the settings with an effect are exactly those that are compiled', () => {
  const values = settingValues({ flags: { '--kubeconfig': '/k', '--manifest-url': 'http://localhost/' } });
  const read = new Set<string>(OF_COMMANDS);
  const watched = new Proxy(values, {
    get: (target, name) => {
      if (typeof name === 'string') read.add(name);
      return Reflect.get(target, name);
    },
  });
  compileValues(watched, { hostname: 'h', addresses: [], rootDirectory: '/r', userInput: { flags: {}, file: {} } });
  const withEffect = Object.entries(table).filter(([name, { effect }]) => !isField(name) || effect !== undefined);
  expect([...read].toSorted()).toEqual(withEffect.map(([name]) => name).toSorted());
});

/** Defaults whose values also occur elsewhere with a different meaning. */
const COMMON = [
  '-1 0 1 2 5 10 14 15 50 80 100 5000 10000 30000 60000 120000 300000 3600000 20000 127.0.0.1 0.0.0.0 text none container pods',
  'cgroupfs Webhook kubelet.config.k8s.io/v1beta1',
].flatMap((line) => line.split(' '));

/** The defaults as the code could repeat them: as written in a file, and parsed. */
const literals = new Map(
  settings.flatMap(({ path, setting }) =>
    [true, false].flatMap((standalone) =>
      [defaultInFile(setting, standalone), defaultValue(setting, standalone)]
        .filter((value) => typeof value === 'number' || typeof value === 'string')
        .map((value) => [String(value), path] as const),
    ),
  ),
);

/** Returns the lines of a file without comments. */
const codeOf = (text: string): readonly string[] =>
  text
    .replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ' '))
    .split('\n')
    .map((line) => line.replace(/(^|\s)\/\/.*$/, ''));

const LITERAL = /'([^']*)'|(?<![\w.])(-?\d[\d_]*(?:\.\d+)?)(?![\w.])/g;

const ofNode = productFiles.filter(({ file }) => /^(node|cli|scripts)\//.test(file));

describe('a default is written once', () => {
  test('so that its value occurs nowhere else in the code of the node and of the command line', () => {
    const repeated = ofNode
      .filter(({ file }) => !file.startsWith('node/config/settings/'))
      .flatMap(({ file, text }) =>
        codeOf(text).flatMap((line, index) =>
          [...line.matchAll(LITERAL)]
            .map(([, word, number = '']) => word ?? number.replaceAll('_', ''))
            .filter((literal) => literals.has(literal) && literal !== '' && !COMMON.includes(literal))
            .map((literal) => `${file}:${index + 1}: ${literal} is the default of ${literals.get(literal)}`),
        ),
      );
    expect(repeated).toEqual([]);
  });

  test('so that no setting falls back to a literal when it is compiled', () => {
    const fallback = /\bvalues[.[][^?|]*(\?\?|\|\|) \(?('[^']+'|-?\d|true\b|[A-Z][A-Z_]+\b)/;
    const found = ofNode
      .filter(({ file }) => /^node\/config\/[^/]+$/.test(file))
      .flatMap(({ file, text }) =>
        codeOf(text)
          .filter((line) => fallback.test(line))
          .map((line) => `${file}:${line}`),
      );
    expect(found).toEqual([]);
  });

  test('so that help texts contain a placeholder instead of its value', () => {
    const repeated = settings.filter(({ setting: { default: byDefault, effect, flag } }) =>
      [effect, flag?.help].some((text) => byDefault !== undefined && text?.includes(`(default: ${byDefault}`)),
    );
    expect(repeated.map(({ path }) => path)).toEqual([]);
  });
});
