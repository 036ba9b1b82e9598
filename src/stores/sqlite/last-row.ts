/** Where the last job's row is: the next new one goes behind it. */
export const LAST_ROW = 'SELECT ifnull(max(id), 0) AS id FROM jobs';
