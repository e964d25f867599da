// The same rules as in symbolic.cl, by recursion and shared pointers.
#include "reference.hpp"

#include <array>
#include <memory>

#include "common/mix32.hpp"

namespace symbolic {
namespace {

using samples::mix32;

struct Expression;
using Pointer = std::shared_ptr<const Expression>;
enum class Type : std::uint32_t { number = 1, variable, sum, product };

struct Expression {
    Type type;
    std::uint32_t value;
    Pointer left, right;
};

class Maker {
public:
    Pointer make(Type type, std::uint32_t value = 0, Pointer left = {}, Pointer right = {})
    {
        objects_++;
        return std::make_shared<const Expression>(
            Expression{type, value, std::move(left), std::move(right)});
    }
    Pointer sum(const Pointer &left, const Pointer &right)
    {
        if (is(left, 0) || is(right, 0))
            return both_numbers(left, right) ? make(Type::number, left->value + right->value)
                   : is(left, 0)             ? right
                                             : left;
        return both_numbers(left, right) ? make(Type::number, left->value + right->value)
                                         : make(Type::sum, 0, left, right);
    }
    Pointer product(const Pointer &left, const Pointer &right)
    {
        if (is(left, 0) || is(right, 0))
            return make(Type::number, 0);
        if (both_numbers(left, right))
            return make(Type::number, left->value * right->value);
        if (is(left, 1) || is(right, 1))
            return is(left, 1) ? right : left;
        return make(Type::product, 0, left, right);
    }
    Pointer new_expression(std::uint32_t seed)
    {
        std::array<Pointer, 8> parts;
        for (std::uint32_t i = 0; i < parts.size(); i++) {
            const std::uint32_t random = mix32(seed * 64 + i);
            parts[i] = random % 3 == 0 ? make(Type::number, random >> 8) : make(Type::variable);
        }
        for (std::uint32_t count = 4; count != 0; count /= 2)
            for (std::uint32_t i = 0; i < count; i++)
                parts[i] = mix32(seed * 64 + 32 + count + i) % 2 == 0
                               ? sum(parts[2 * i], parts[2 * i + 1])
                               : product(parts[2 * i], parts[2 * i + 1]);
        return parts[0];
    }
    Pointer derivative(const Pointer &of)
    {
        if (of->type == Type::number || of->type == Type::variable)
            return make(Type::number, of->type == Type::variable);
        const Pointer left = derivative(of->left), right = derivative(of->right);
        if (of->type == Type::sum)
            return sum(left, right);
        const Pointer first = product(left, of->right), second = product(of->left, right);
        return sum(first, second);
    }
    std::uint64_t objects() const { return objects_; }

private:
    static bool is(const Pointer &expression, std::uint32_t value)
    {
        return expression->type == Type::number && expression->value == value;
    }
    static bool both_numbers(const Pointer &left, const Pointer &right)
    {
        return left->type == Type::number && right->type == Type::number;
    }
    std::uint64_t objects_ = 0;
};

std::uint32_t fingerprint(const Pointer &of)
{
    if (of->type == Type::number)
        return mix32(of->value * 2 + 1);
    if (of->type == Type::variable)
        return mix32(7);
    return mix32(fingerprint(of->left) * 31 + fingerprint(of->right) * 37 +
                 static_cast<std::uint32_t>(of->type));
}

} // namespace

Outcome differentiate(std::uint32_t index, std::uint32_t rounds)
{
    Maker maker;
    Pointer expression;
    std::uint32_t check = 0;
    for (std::uint32_t round = 0; round < rounds; round++) {
        expression = round % 5 == 0 ? maker.new_expression(index * rounds + round)
                                    : maker.derivative(expression);
        check = mix32(check + fingerprint(expression));
    }
    return {check, maker.objects()};
}

} // namespace symbolic
