/** Formats descriptions of settings for the help and docs/reference.md. */
import { lookUp } from '../../../base/values/lookUp.ts';
import { isGroup, type SettingDefinition, type Settings } from './setting.ts';

/**
 * Replaces the placeholders in a text with the defaults of a setting. The placeholders are `{default}` and
 * `{standalone}` or, in the text of a group, the path of a field, e.g. `{webhook.cacheTTL}`. `replacements` take
 * precedence.
 */
export function withDefaults(
  text: string,
  settingEntry: Settings[string],
  replacements: Readonly<Record<string, string>> = {},
): string {
  return text.replaceAll(
    /\{([\w.]+)\}/g,
    (_, name: string) => lookUp(replacements, name) ?? formatDefault(settingEntry, name),
  );
}

function formatDefault(entry: Settings[string], name: string): string {
  if (isGroup(entry)) {
    const [field = '', ...rest] = name.split('.');
    const memberSetting = lookUp(entry.fields, field);
    if (memberSetting === undefined) throw new Error(`there is no field ${name}`);
    return formatDefault(memberSetting, rest.length > 0 ? rest.join('.') : 'default');
  }
  return formatValue(name === 'standalone' ? entry.standaloneDefault : entry.default);
}

const formatValue = (value: SettingDefinition['default']): string => (value === undefined ? 'none' : String(value));
