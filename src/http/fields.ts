import { z } from 'zod';
import { JOB_ID, JOB_ID_RULE } from '../kernel/index.js';

/** The most that one page of a list holds. */
export const MOST_PAGE = 200;
const DEFAULT_PAGE = 50;

export const jobId = z.string().regex(JOB_ID, JOB_ID_RULE);
/**
 * A name, a key or an id. Control characters are never meant, and half a surrogate pair would be stored as something else,
 * so that two keys could become one.
 */
export const text = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'has a control character or half a character');
export const optionalText = (most: number) => text(most).nullish();
/** What a key is unique within. Those with a `$` in front are Pawl's own. */
export const optionalScope = text(500).regex(/^[^$]/, "begins with '$'").nullish();
/** What people write to each other: it may have several lines. */
export const prose = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^(?:[^\p{Cc}\p{Cs}]|[\t\n\r])*$/u, 'has a control character or half a character');
/** For what does the work of a job once more. */
export const repeating = {
  keep_recorded: z
    .boolean()
    .optional()
    .default(false)
    .describe('go on where the job was: what it has recorded is not done again'),
  repeat_effects: z
    .boolean()
    .optional()
    .default(false)
    .describe('enter effects again that happened, or may have'),
};
/** The same as the engine has it. */
export const repeatingOf = (body: { keep_recorded: boolean; repeat_effects: boolean }) => ({
  keepRecorded: body.keep_recorded,
  repeatEffects: body.repeat_effects,
});
/** Any JSON value. Whether it is too large is for the engine to say, which knows the payload's own limits. */
export const payload = z.unknown();

export const utcTime = z.string().describe('a time in UTC such as 2027-01-31T08:00:00.000Z');
export const utcTimeOrNull = utcTime.nullable();

export const count = z.int().min(0).max(2_147_483_647);
/** Longer than any timer: ten years. */
export const milliseconds = z.int().min(0).max(315_360_000_000);

const digits = (most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'is no whole number')
    .transform(Number)
    .refine((value) => value >= 1 && value <= most, `must be from 1 to ${most}`);

export const flag = z.enum(['true', 'false']).transform((value) => value === 'true');
export const wholeNumber = digits(1_000_000_000);

export const page = {
  limit: digits(MOST_PAGE).optional().default(DEFAULT_PAGE),
  cursor: text(400).optional(),
};
