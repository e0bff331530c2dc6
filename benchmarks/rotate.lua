-- Sends requests that take turns: wrk -s rotate.lua URL -- METHOD FILE, with a path (for a POST a body) on each line.

local requests, turn = {}, 0

function init(arguments)
  local method, file = arguments[1], arguments[2]
  for line in io.lines(file) do
    if method == "POST" then
      requests[#requests + 1] = wrk.format(method, nil, nil, line)
    else
      requests[#requests + 1] = wrk.format(method, line)
    end
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end
