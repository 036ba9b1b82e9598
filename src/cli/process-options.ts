import { Option, type Command } from 'commander';
import { LOG_LEVELS } from '../ports/logger.js';
import { choiceOption, numberOption } from './shell.js';

const HIGHEST_PORT = 65_535;

export function serverOptions(command: Command): Command {
  return command
    .option('--host <address>', '127.0.0.1 unless told otherwise; any other takes keys (env: PAWL_HOST)')
    .addOption(
      numberOption('--port <n>', '7295 unless told otherwise; 0 takes any (env: PAWL_PORT)', {
        least: 0,
        most: HIGHEST_PORT,
      }),
    )
    .option('--default-task <name>', 'what runs where none is named (env: PAWL_DEFAULT_TASK)');
}

export function workerOptions(command: Command): Command {
  return command
    .addOption(
      numberOption('--concurrency <n>', 'how many jobs run at once (env: PAWL_CONCURRENCY)', { least: 1 }),
    )
    .option('--queues <name...>', 'only these (env: PAWL_QUEUES, with commas)')
    .option('--lease <duration>', 'how long jobs stay with a worker that is not heard of (env: PAWL_LEASE)')
    .option('--drain <duration>', 'how long running jobs get to end (env: PAWL_DRAIN)')
    .option('--worker-id <id>', 'a name that is kept across restarts (env: PAWL_WORKER_ID)');
}

export function processOptions(command: Command): Command {
  return command
    .addOption(
      choiceOption(
        '--log-level <level>',
        'what is logged, on standard error (env: PAWL_LOG_LEVEL)',
        LOG_LEVELS,
      ),
    )
    .addOption(new Option('--until-input-ends').hideHelp())
    .addOption(new Option('--narrate', 'say on standard error what becomes of each job'));
}
