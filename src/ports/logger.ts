export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Where the engine says what a person may want to know. Fields are small and free of payloads and secrets. */
export type Logger = Readonly<Record<LogLevel, (message: string, fields?: LogFields) => void>>;
export type LogFields = Readonly<Record<string, unknown>>;
