/** The command lines of `run` and `up`, whose flags are derived from the settings. */
import { type Command, Option } from 'commander';
import { type FlagSetting, flagSettings } from '../../../node/config/settings/allSettings.ts';
import { withDefaults } from '../../../node/config/settings/settingTexts.ts';

/** Adds `run` or `up` with its flags, in the order of the settings. */
export function addNodeCommand(program: Command, name: 'run' | 'up', summary: string): Command {
  const command = program.command(name).description(summary);
  for (const setting of flagSettings()) {
    const onlyCommand = setting.flag.command ?? name;
    if (onlyCommand === name) command.addOption(createOption(setting, name));
  }
  return command;
}

function createOption({ name, flag, setting }: FlagSetting, command: 'run' | 'up'): Option {
  const usage = [flag.short === undefined ? name : `${flag.short}, ${name}`, flag.argument];
  const defaultValue = command === 'up' ? flag.upDefault : undefined;
  const help = withDefaults(flag.help, setting, defaultValue === undefined ? {} : { default: defaultValue });
  const option = new Option(usage.filter((word) => word !== undefined).join(' '), help);
  if (flag.argument === '[boolean]') option.argParser(parseBoolean);
  if (flag.repeats) option.argParser(joinValues);
  return option;
}

/** Parses the value of a boolean flag. As in the kubelet, a flag without a value is true. */
const parseBoolean = (value: string): boolean | string =>
  value === 'true' || value === 'false' ? value === 'true' : value;

const joinValues = (value: string, previousValue: string | undefined): string =>
  previousValue === undefined ? value : `${previousValue},${value}`;
